import { isLongerThan } from './request-body';

describe('a text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['🔑🔑', 2],
    ['x\ufe0f', 2],
    ['\ud800', 1],
  ])('such as %j has exactly %i characters', (text, length) => {
    expect([isLongerThan(text, length - 1), isLongerThan(text, length)]).toEqual([true, false]);
  });
});
