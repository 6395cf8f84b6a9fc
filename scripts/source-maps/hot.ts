// What the bundlers are given: a function of each form, each busy for a while, so that a profile has all of them.

export type Work = (rounds: number) => number;

function spin(rounds: number, seed: number): number {
  let value = seed;
  for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
  return value;
}

/** A declaration. */
export function declared(rounds: number): number {
  let value = 1;
  for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
  return value + spin(rounds, 1);
}

export const arrow = (rounds: number): number => {
  let value = 2;
  for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
  return value + spin(rounds, 2);
};

export const typed: Work = (rounds) => {
  let value = 3;
  for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
  return value;
};

export const expression = function (rounds: number): number {
  let value = 4;
  for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
  return value;
};

export const outer = function inner(rounds: number): number {
  let value = 5;
  for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
  return value;
};

export const methods = {
  shorthand(rounds: number): number {
    let value = 6;
    for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
    return value;
  },
  property: (rounds: number): number => {
    let value = 7;
    for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
    return value;
  },
  "quoted-name": function (rounds: number): number {
    let value = 8;
    for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
    return value;
  },
};

export class Shape {
  rounds: number;

  constructor(rounds: number) {
    this.rounds = rounds;
    for (let round = 0; round < rounds; round += 1) this.rounds = (this.rounds * 31 + round) % 1000003;
  }

  area(rounds: number): number {
    let value = 9;
    for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
    return value;
  }

  static measure(rounds: number): number {
    let value = 10;
    for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
    return value;
  }

  get perimeter(): number {
    let value = 11;
    for (let round = 0; round < 3000000; round += 1) value = (value * 31 + round) % 1000003;
    return value;
  }

  field = (rounds: number): number => {
    let value = 12;
    for (let round = 0; round < rounds; round += 1) value = (value * 31 + round) % 1000003;
    return value;
  };
}
