import type { Environment } from '../environment';
import { DEMO } from './demo-accounts';

const STOP = 'LOG_LEVEL=verbose shows every line of the log. Ctrl-C stops the server.';

/** The text on the terminal after a start in development: where to look, and with which accounts. */
export function welcome({ url, databaseUrl, redisUrl, development }: Environment): string {
  const { seedDemo, mailbox, dataDir } = development;
  // With SVC_REDIS_URL, the library opens its own connection.
  const hasRedis = redisUrl ?? process.env.SVC_REDIS_URL;
  const rows: [string, string, string?][] = [
    ['Page', url, 'sign in, and see what a session goes through'],
    ['API docs', `${url}/docs`],
    ...(mailbox ? [['Mailbox', `${url}/mailbox`, 'mails are shown here, not sent'] as [string, string, string]] : []),
    ...(seedDemo
      ? ([
          ['Customer', DEMO.user, `password ${DEMO.password}`],
          ['Admin', DEMO.admin, `same password, at ${url}/support; ${DEMO.support} may do less`],
        ] as [string, string, string][])
      : []),
    ['Stores', databaseUrl ? 'PostgreSQL' : `PostgreSQL in ${dataDir}`, hasRedis ? 'Redis' : 'no Redis: memory'],
  ];
  const width = Math.max(...rows.map(([, where]) => where.length));
  const lines = rows.map(([name, where, note = '']) =>
    `  ${name.padEnd(10)}${where.padEnd(width + 2)}${note}`.trimEnd(),
  );
  return ['', '  @svc/auth, the sample', '', ...lines, '', `  ${STOP}`, ''].join('\n');
}
