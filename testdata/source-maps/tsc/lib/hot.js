"use strict";
// What the bundlers are given: a function of each form, each busy for a while, so that a profile has all of them.
Object.defineProperty(exports, "__esModule", { value: true });
exports.Shape = exports.methods = exports.outer = exports.expression = exports.typed = exports.arrow = void 0;
exports.declared = declared;
function spin(rounds, seed) {
    let value = seed;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return value;
}
/** A declaration. */
function declared(rounds) {
    let value = 1;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return value + spin(rounds, 1);
}
const arrow = (rounds) => {
    let value = 2;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return value + spin(rounds, 2);
};
exports.arrow = arrow;
const typed = (rounds) => {
    let value = 3;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return value;
};
exports.typed = typed;
const expression = function (rounds) {
    let value = 4;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return value;
};
exports.expression = expression;
const outer = function inner(rounds) {
    let value = 5;
    for (let round = 0; round < rounds; round += 1)
        value = (value * 31 + round) % 1000003;
    return value;
};
exports.outer = outer;
exports.methods = {
    shorthand(rounds) {
        let value = 6;
        for (let round = 0; round < rounds; round += 1)
            value = (value * 31 + round) % 1000003;
        return value;
    },
    property: (rounds) => {
        let value = 7;
        for (let round = 0; round < rounds; round += 1)
            value = (value * 31 + round) % 1000003;
        return value;
    },
    "quoted-name": function (rounds) {
        let value = 8;
        for (let round = 0; round < rounds; round += 1)
            value = (value * 31 + round) % 1000003;
        return value;
    },
};
class Shape {
    rounds;
    constructor(rounds) {
        this.rounds = rounds;
        for (let round = 0; round < rounds; round += 1)
            this.rounds = (this.rounds * 31 + round) % 1000003;
    }
    area(rounds) {
        let value = 9;
        for (let round = 0; round < rounds; round += 1)
            value = (value * 31 + round) % 1000003;
        return value;
    }
    static measure(rounds) {
        let value = 10;
        for (let round = 0; round < rounds; round += 1)
            value = (value * 31 + round) % 1000003;
        return value;
    }
    get perimeter() {
        let value = 11;
        for (let round = 0; round < 3000000; round += 1)
            value = (value * 31 + round) % 1000003;
        return value;
    }
    field = (rounds) => {
        let value = 12;
        for (let round = 0; round < rounds; round += 1)
            value = (value * 31 + round) % 1000003;
        return value;
    };
}
exports.Shape = Shape;
//# sourceMappingURL=hot.js.map