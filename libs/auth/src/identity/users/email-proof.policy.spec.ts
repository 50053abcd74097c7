import { isProvedByPerson } from './email-proof.policy';

describe('the email of a user', () => {
  it.each([
    ['is proved when it is verified', true, false, true],
    ['is not proved by a link that was opened without a session', true, true, false],
    ['is not proved while it is not verified', false, false, false],
    ['is not proved while it is not verified, although mails arrive', false, true, false],
  ])('%s', (_, isVerified, isDeliveryOnly, isProved) => {
    expect(isProvedByPerson({ isVerified, isDeliveryOnly })).toBe(isProved);
  });
});
