import type { HistoryLine, HistoryPage } from '@svc/auth/operators';
import { AuditTrail } from '../../../libs/auth/src/features/operators/trail/audit-trail';
import { Realms } from '../../../libs/auth/src/foundation/realm/realm';
import type { TestApp } from '../hosts/app';

/** The service of a guard. */
export const trailOf = (t: TestApp, guard = 'api'): AuditTrail => t.app.get(Realms).get(guard).get(AuditTrail);

export const historyAt = async (t: TestApp, token: string, query = '', guard = 'api'): Promise<HistoryPage> =>
  (await t.get(`${t.paths[guard]}/history${query}`, token).expect(200)).body;

/** The history of the owner of a token, the oldest line first, when what is written in the background is stored. */
export async function historyOf(t: TestApp, token: string, guard = 'api'): Promise<HistoryLine[]> {
  await t.auth.settled();
  return (await historyAt(t, token, '?limit=100', guard)).data.toReversed();
}

/** The operations of lines, each with its reason. */
export const told = (lines: readonly HistoryLine[]): string[] =>
  lines.map(({ operation, reason }) => operation.slice('auth.'.length) + (reason ? `: ${reason}` : ''));
