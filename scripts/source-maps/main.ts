import { arrow, declared, expression, methods, outer, Shape, typed, type Work } from "./lib/hot";

// callbacks have no names of their own, whatever stands before their parentheses
const callbacks = (rounds: number): number =>
  [1, 2, 3].map((seed) => {
    let value = seed;
    for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
    return value;
  }).reduce(function (sum, value) {
    for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
    return sum + value;
  }, 0);

const choose = (rounds: number): Work =>
  rounds > 0
    ? (count) => {
        let value = 13;
        for (let round = 0; round < count; round += 1) value = (value * 31 + round) % 1000003;
        return value;
      }
    : (count) => count;

async function later(rounds: number): Promise<number> {
  let value = 14;
  for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
  return value;
}

function* stepped(rounds: number): Generator<number> {
  let value = 15;
  for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
  yield value;
}

function useShape(rounds: number): number {
  const shape = new Shape(rounds);
  return shape.area(rounds) + shape.field(rounds) + shape.perimeter + Shape.measure(rounds);
}

const all: Work[] = [
  declared, arrow, typed, expression, outer, methods.shorthand, methods.property, methods["quoted-name"],
  useShape, callbacks, (rounds) => choose(rounds)(rounds),
  (rounds) => { later(rounds); return [...stepped(rounds)].length; },
];

let sum = 0;
for (const work of all) sum += work(3000000);
if (sum < 0) throw new Error("cannot be");
