// Names that Node 20 writes into its trace log without escaping: the log is then not JSON.
// Recorded by scripts/record-node. Around every nasty name stand good ones, so that a reader can
// prove that it found its way back: every event named `time::good …` must be kept.
import { performance } from 'node:perf_hooks';

function timer(name) {
  console.time(name);
  console.timeEnd(name);
}

const nasty = {
  'quote': 'a"b',
  'quotes around': '"quoted"',
  'backslash': 'C:\\demo\\new',
  'backslash at the end': 'ends with \\',
  'backslash and quote': 'a\\"b',
  'newline': 'line one\nline two',
  'carriage return': 'line one\r\nline two',
  'tab and bell': 'a\tb\x07c',
  'nul': 'a\0b',
  'escape sequence': '\x1b[31mred\x1b[0m',
  'high surrogate': 'lone \ud83d',
  'low surrogate': '\udd52 lone',
  'event text': '"},{"pid":1,"tid":1,"ts":1,"ph":"I","cat":"fake","name":"fake"',
  'end of the array': '"}]}',
  'open brackets': '{[{[',
  'close brackets': '}]}]',
  'del and c1': '\x7f\x80\x9f',
  'line separators': '\u2028 \u2029',
};

for (const [kind, name] of Object.entries(nasty)) {
  timer(`good before: ${kind}`);
  timer(name);
  // Node 20 does not trace marks; some versions do, unescaped as well.
  performance.mark(name);
  timer(`good after: ${kind}`);
}
