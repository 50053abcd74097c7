import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCommon } from './password-rules';

const COMMON = readFileSync(join(__dirname, '../../../../../test/vectors/passwords/top3000_min8.txt'), 'utf8')
  .split('\n')
  .filter(Boolean);

describe('the list of common passwords', () => {
  it('is compared with a list of 3000 passwords', () => {
    expect(COMMON).toHaveLength(3000);
  });

  it('contains the 3000 most common passwords of at least 8 characters', () => {
    expect(COMMON.filter((password) => !isCommon(password))).toEqual([]);
  });
});
