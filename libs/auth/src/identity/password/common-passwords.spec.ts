import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCommon } from './password-rules';

const COMMON = readFileSync(join(__dirname, '../../../../../test/vectors/passwords/top3000_min8.txt'), 'utf8')
  .split('\n')
  .filter(Boolean);

describe('the list of common passwords', () => {
  it('has a list of 3000 to be measured by', () => {
    expect(COMMON).toHaveLength(3000);
  });

  it('has the 3000 most common ones', () => {
    expect(COMMON.filter((password) => !isCommon(password))).toEqual([]);
  });
});
