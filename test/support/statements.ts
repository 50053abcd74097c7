import type { TestApp } from './app';

/** What a running application does every few seconds by itself: it looks after its denylist. */
const OWN_WORK = /svc_denylist_epochs|DELETE FROM \S*svc_revocations/;

export const isOfRequests = (text: string): boolean => !OWN_WORK.test(text);

/** Records the statements of requests, until the test ends. */
export function statementsOf(t: TestApp): jest.Mock<void, [text: string]> {
  const recorded = jest.fn<void, [text: string]>();
  jest.spyOn(t.database.logger, 'logQuery').mockImplementation((text: string) => {
    if (isOfRequests(text)) recorded(text);
  });
  return recorded;
}
