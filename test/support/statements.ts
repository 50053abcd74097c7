import { EpochWatch } from '../../libs/auth/src/revocations/epoch-watch';
import type { TestApp } from './app';

/** Listens to the statements of requests, and has nothing look after the denylist until the test ends. */
export async function statementsOf(t: TestApp): Promise<jest.SpyInstance<void, [text: string]>> {
  const watch = t.app.get(EpochWatch) as unknown as { look(): void; looking?: Promise<void> };
  jest.spyOn(watch, 'look').mockReturnValue(undefined);
  await watch.looking;
  return jest.spyOn(t.database.logger, 'logQuery') as jest.SpyInstance;
}
