import { Logger } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AuthEvents } from '../../foundation/platform/auth-events';
import type { Realm } from '../../foundation/realm/realm';
import { MailFailed, MailQueue } from './mail-queue';
import type { Mail } from '../../foundation/ports/mail';

const MAIL: Mail = { to: 'ada@example.com', subject: 'Hello', text: 'A text' };

describe('the mail queue', () => {
  it('is bounded: a mail beyond the maximum emits MailFailed', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    let release = (): void => undefined;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    const send = jest.fn(() => hanging);
    const [events, failed] = [new AuthEvents(), [] as MailFailed[]];
    events.on(MailFailed, (event) => failed.push(event));
    const queue = new MailQueue({ guard: 'api', options: { mail: { mailer: { send } } } } as unknown as Realm, events);
    for (let i = 0; i < 4; i++) queue.add('passwordReset', async () => MAIL);
    while (send.mock.calls.length < 4) await nextTurn();
    for (let i = 0; i < 1001; i++) queue.add('passwordReset', async () => MAIL);
    expect(failed).toEqual([{ kind: 'passwordReset', guard: 'api', error: expect.any(Error) }]);
    release();
    await queue.beforeApplicationShutdown();
    expect(send).toHaveBeenCalledTimes(1004);
  });
});
