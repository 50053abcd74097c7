import { resolveOptions } from '../../foundation/config/options.testkit';
import { headerErrors } from './step-up.feature';

class People {}

const refusalsOf = (header?: string): string[] =>
  headerErrors(resolveOptions({ users: { entity: People }, confirm: { header } }));

describe('the header of the confirmation token', () => {
  it('is accepted if it is a header name that nothing else uses', () => {
    expect(refusalsOf()).toEqual([]);
    expect(refusalsOf('X-Proof')).toEqual([]);
  });

  it.each([
    ['that is not a header name', 'X Proof', /^confirm\.header .*is "X Proof"/],
    ['that is already in use', 'authorization', /^confirm\.header/],
  ])('is refused if it is one %s', (_, header, text) => {
    expect(refusalsOf(header)).toEqual([expect.stringMatching(text)]);
  });
});
