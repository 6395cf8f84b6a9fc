// Checks the lists Stack, Initiated by and Initiates: a click on an entry leads to its event, and back; arrows are painted.
import { openTab } from './page.mjs';

const NAME = 'TimerFire';

// The entries of a list of the details.
const entries = (label) => `[...([...document.querySelectorAll('#event dt')].find((term) => term.textContent === '${label}')?.nextSibling.querySelectorAll('.jump') ?? [])]`;

async function find(tab) {
  await tab.run("document.getElementById('base').focus()");
  await tab.key('/');
  await tab.run("document.getElementById('search').value = ''");
  await tab.send('Input.insertText', { text: NAME });
  await tab.key('Enter');
  await tab.until(`document.querySelector('#event dd')?.textContent === '${NAME}'`);
}

export async function causes({ browser, served, check, picture }) {
  for (const dark of [false, true]) {
    const scheme = dark ? 'dark' : 'light';
    const tab = await openTab(browser, { width: 1400, height: 900, dark });
    await tab.go(served.address);
    await find(tab);
    await tab.until(`${entries('Initiated by')}.length > 0`);
    const fired = await tab.run('tracemill.model.picked');
    check(`${scheme}: an event says what initiated it`, (await tab.run(`${entries('Initiated by')}[0].textContent`)) === 'TimerInstall');
    await tab.run(`tracemill.model.show(${fired.start} - 20e6, ${fired.start} + 20e6)`);
    await tab.still();
    await tab.picture(picture(`causes-${scheme}.png`));
    await tab.run(`${entries('Initiated by')}[0].click()`);
    await tab.until("document.querySelector('#event dd')?.textContent === 'TimerInstall'");
    await tab.until(`${entries('Initiates')}.length > 0`);
    check('a click on the entry leads there', await tab.run(`tracemill.model.picked.start <= ${fired.start}`));
    const all = `${entries('Initiates')}.map((entry) => entry.textContent)`;
    check('which initiates it', (await tab.run(all)).includes(NAME));
    check('and has a stack with source places', /^app\.js/.test(await tab.run("document.querySelector('#event .source')?.textContent ?? ''")));
    await tab.until(`(({ width, height }, pen) => pen.getImageData(0, 0, width, height).data.filter((byte) => byte).length > 1000)(document.getElementById('over'), document.getElementById('over').getContext('2d'))`);
    check('arrows are painted', true);
    await tab.picture(picture(`causes-initiator-${scheme}.png`));
    check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
    await tab.close();
  }
}
