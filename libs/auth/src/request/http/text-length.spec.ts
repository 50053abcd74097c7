import { isLongerThan } from './request-body';

describe('a text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['🔑🔑', 2],
    ['x\ufe0f', 2],
    ['\ud800', 1],
  ])('%j is longer than one character less, and not than its own %i', (text, length) => {
    expect([isLongerThan(text, length - 1), isLongerThan(text, length)]).toEqual([true, false]);
  });
});
