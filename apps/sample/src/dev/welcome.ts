import type { Environment } from '../environment';
import { DEMO } from './demo-accounts';

/** The text of the log after the start: the address, and requests to try. */
export function welcome({ port, development: { seedDemo, mailbox } }: Environment): string {
  const url = `http://localhost:${port}`;
  const listening = `listening on ${url}, with a page to try it\n`;
  if (!seedDemo) return listening;
  return `${listening}
Try it:
  curl -s ${url}/auth/login -H 'Content-Type: application/json' \\
       -d '{"email":"${DEMO.user}","password":"${DEMO.password}"}'

  curl -s ${url}/user -H 'Authorization: Bearer ACCESS_TOKEN'
  curl -s ${url}/auth/refresh -d refresh_token=REFRESH_TOKEN
  curl -s -X POST ${url}/auth/logout -H 'Authorization: Bearer ACCESS_TOKEN'

${mailbox ? `Mails are not sent, but shown at ${url}/mailbox.\n` : ''}
The administrator ${DEMO.admin} (same password) signs in at ${url}/admin/auth/login.
`;
}
