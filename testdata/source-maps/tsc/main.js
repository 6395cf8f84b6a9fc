"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const hot_1 = require("./lib/hot");
// callbacks have no names of their own, whatever stands before their parentheses
const callbacks = (rounds) => [1, 2, 3].map((seed) => {
    let value = seed;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return value;
}).reduce(function (sum, value) {
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return sum + value;
}, 0);
const choose = (rounds) => rounds > 0
    ? (count) => {
        let value = 13;
        for (let round = 0; round < count; round += 1)
            value = (value * 31 + round) % 1000003;
        return value;
    }
    : (count) => count;
async function later(rounds) {
    let value = 14;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return value;
}
function* stepped(rounds) {
    let value = 15;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    yield value;
}
function useShape(rounds) {
    const shape = new hot_1.Shape(rounds);
    return shape.area(rounds) + shape.field(rounds) + shape.perimeter + hot_1.Shape.measure(rounds);
}
const all = [
    hot_1.declared, hot_1.arrow, hot_1.typed, hot_1.expression, hot_1.outer, hot_1.methods.shorthand, hot_1.methods.property, hot_1.methods["quoted-name"],
    useShape, callbacks, (rounds) => choose(rounds)(rounds),
    (rounds) => { later(rounds); return [...stepped(rounds)].length; },
];
let sum = 0;
for (const work of all)
    sum += work(3000000);
if (sum < 0)
    throw new Error("cannot be");
//# sourceMappingURL=main.js.map