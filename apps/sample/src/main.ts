import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { startApplication } from './application';
import { readEnvironment } from './environment';
import { DEMO } from './users/seed';

async function main(): Promise<void> {
  const environment = readEnvironment();
  const stop = await startApplication(environment);
  const { port, seedDemo, showsMails } = environment;
  new Logger('Sample').log(welcome(`http://localhost:${port}`, seedDemo, showsMails));

  const shutDown = async (): Promise<void> => {
    await stop();
    process.exit(0);
  };
  process.once('SIGINT', shutDown).once('SIGTERM', shutDown);
  if (process.env.npm_lifecycle_event) followParent(shutDown);
}

/** npm stops the shell between us and does not pass the signal on: the application ends with its parent. */
function followParent(shutDown: () => Promise<void>): void {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && void shutDown(), 500).unref();
}

const welcome = (
  url: string,
  seeded: boolean,
  showsMails: boolean,
): string => `listening on ${url}, with a page to try it
${
  seeded
    ? `
Try it:
  curl -s ${url}/auth/login -H 'Content-Type: application/json' \\
       -d '{"email":"${DEMO.user}","password":"${DEMO.password}"}'

  curl -s ${url}/user -H 'Authorization: Bearer ACCESS_TOKEN'
  curl -s ${url}/auth/refresh -d refresh_token=REFRESH_TOKEN
  curl -s -X POST ${url}/auth/logout -H 'Authorization: Bearer ACCESS_TOKEN'

${showsMails ? `Mails that would have been sent are at ${url}/mailbox.\n` : ''}
The administrator ${DEMO.admin} (same password) signs in at ${url}/admin/auth/login.
`
    : ''
}`;

main().catch((error: Error) => {
  new Logger('Sample').error(error.message);
  process.exit(1);
});
