// What Perfetto's own engine says of a trace, as JSON: node perfetto-engine.mjs FOLDER TRACE SQL...
// FOLDER has engine_bundle.js and trace_processor.wasm, as the UI of Perfetto has them. Prints the rows of each query.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [folder, trace, ...queries] = process.argv.slice(2);

// protocol buffers, as far as they are needed here
const varint = (number) => {
    const bytes = [];
    let rest = BigInt(number);
    do {
        bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
        rest >>= 7n;
    } while (rest > 0n);
    return bytes;
};
const field = (number, value) =>
    typeof value === "number"
        ? Buffer.from([...varint(number << 3), ...varint(value)])
        : Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(value.length)]), value]);

function read(bytes) {
    let at = 0;
    const next = () => {
        let [value, shift] = [0n, 0n];
        for (;;) {
            const byte = bytes[at++];
            value |= BigInt(byte & 127) << shift;
            if (byte < 128) return value;
            shift += 7n;
        }
    };
    const found = [];
    while (at < bytes.length) {
        const key = Number(next());
        const take = (length) => bytes.subarray(at, (at += length));
        const value = [next, () => take(8), () => take(Number(next())), null, null, () => take(4)][key & 7]();
        found.push([key >> 3, value]);
    }
    return found;
}
const varints = (packed) => {
    const found = [];
    let [value, shift] = [0n, 0n];
    for (const byte of packed) {
        value |= BigInt(byte & 127) << shift;
        shift += 7n;
        if (byte < 128) {
            found.push(Number(BigInt.asIntN(64, value)));
            [value, shift] = [0n, 0n];
        }
    }
    return found;
};
const all = (message, number) => message.filter(([own]) => own === number).map(([, value]) => value);

// the engine is the worker of a page: it gets a port, and bytes of requests by it
let answer;
const port = { postMessage: (bytes) => answer(Buffer.from(bytes)) };
const self = { location: { href: "http://localhost/engine_bundle.js" } };
class XMLHttpRequest {
    open(_, name) {
        this.name = name;
    }
    send() {
        this.response = new Uint8Array(readFileSync(join(folder, this.name.split("/").pop()))).buffer;
        this.status = 200;
    }
}
// it looks for a worker of a page, and must not find Node
const seen = { self, process: undefined, importScripts: () => {}, WorkerGlobalScope: Object, XMLHttpRequest };
new Function(...Object.keys(seen), readFileSync(join(folder, "engine_bundle.js"), "utf8"))(...Object.values(seen));
// it is ready when what waits for its memory has run
await new Promise((done) => setTimeout(done, 0));
self.onmessage({ data: port });

let sequence = 0;
const request = (...fields) => port.onmessage({ data: new Uint8Array(field(1, Buffer.concat([field(1, sequence++), ...fields]))) });
const answers = [];
let waiting = [];
answer = (bytes) => {
    for (const message of all(read(bytes), 1)) {
        const one = read(message);
        const fatal = all(one, 5)[0];
        if (fatal) throw new Error(fatal.toString());
        (waiting.length ? waiting.shift() : (m) => answers.push(m))(one);
    }
};
const reply = () => (answers.length ? Promise.resolve(answers.shift()) : new Promise((done) => waiting.push(done)));

const bytes = readFileSync(trace);
for (let at = 0; at < bytes.length; at += 16 << 20) {
    request(field(2, 1), field(101, bytes.subarray(at, at + (16 << 20))));
    const failed = all(read(all(await reply(), 201)[0] ?? Buffer.alloc(0)), 2)[0];
    if (failed) throw new Error(failed.toString());
}
request(field(2, 2));
await reply();

async function query(sql) {
    request(field(2, 3), field(103, field(1, Buffer.from(sql))));
    let names, rows = [];
    for (let last = false; !last; ) {
        const result = read(all(await reply(), 203)[0]);
        const failed = all(result, 2)[0];
        if (failed?.length) throw new Error(`${sql}: ${failed}`);
        names ??= all(result, 1).map(String);
        let row = [];
        for (const batch of all(result, 3)) {
            const part = read(batch);
            const numbers = all(part, 2).flatMap(varints);
            const doubles = all(part, 3).flatMap((packed) => Array.from({ length: packed.length / 8 }, (_, n) => packed.readDoubleLE(8 * n)));
            const texts = all(part, 5).flatMap((packed) => packed.toString().split("\0").slice(0, -1));
            for (const cell of all(part, 1).flatMap((packed) => [...packed])) {
                const kinds = [, () => null, () => numbers.shift(), () => doubles.shift(), () => texts.shift(), () => "blob"];
                row.push(kinds[cell]());
                if (row.length === names.length) {
                    rows.push(row);
                    row = [];
                }
            }
            last = all(part, 6).some((value) => value === 1n);
        }
    }
    return rows;
}
for (const sql of queries) console.log(JSON.stringify(await query(sql)));
process.exit(0);
