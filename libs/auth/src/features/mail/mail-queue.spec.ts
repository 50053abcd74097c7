import { Logger } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BackgroundWork } from '../../foundation/platform/deadline';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { FEATURES } from '../../features';
import type { Mail, MailKind } from '../../foundation/ports/mail';
import type { Realm } from '../../foundation/realm/realm';
import { MemorySecurityStore } from '../../foundation/security-store/memory-security-store';
import { type Draft, MailGate, mailboxOf, mailsOf } from './mail-gate';
import { MailFailed, MailQueue } from './mail-queue';

const MAIL: Mail = { to: 'ada@example.com', subject: 'Hello', text: 'A text' };

const MAILS = mailsOf(FEATURES);
const MAIL_KINDS = [...MAILS.keys()];
const classOf = (kind: MailKind) => MAILS.get(kind)!.class;

/** A queue with a mailer, and with limits that are counted in memory. */
function queueOf(send: (mail: Mail) => Promise<unknown>) {
  const failed: MailFailed[] = [];
  const background = new BackgroundWork();
  const events = new AuthEvents(background);
  events.on(MailFailed, (event) => failed.push(event));
  const realm = { guard: 'api', options: { mail: { mailer: { send } } } } as unknown as Realm;
  const config = { encryption: {}, guards: [{ isDefault: true, secret: 'x'.repeat(32) }] } as never;
  const gate = new MailGate(new MemorySecurityStore(new Clock()), realm, new Clock(), config, FEATURES);
  return { queue: new MailQueue(realm, events, gate, background), failed, background };
}

/** A mail of any kind; `proof` is for the kinds that inform the owner of an account. */
const draftTo = (to: string, isProved: boolean): Draft<MailKind> =>
  ({ to, proof: isProved ? 'person' : 'none', write: async () => MAIL }) as never;

describe('the mail queue', () => {
  beforeEach(() => jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined));
  afterEach(() => jest.useRealTimers());

  it('is bounded: a mail beyond the maximum emits MailFailed', async () => {
    let release = (): void => undefined;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    const send = jest.fn(() => hanging);
    const { queue, failed, background } = queueOf(send);
    const add = (i: number): void => queue.add('passwordReset', async () => draftTo(`${i}@example.com`, false));
    for (let i = 0; i < 4; i++) add(i);
    while (send.mock.calls.length < 4) await nextTurn();
    for (let i = 4; i < 1005; i++) add(i);
    expect(failed).toEqual([{ kind: 'passwordReset', guard: 'api', error: expect.any(Error) }]);
    const change = jest.fn();
    const reserved = (): Promise<unknown> => queue.withReserved('emailChanged', MAIL.to, change, () => true);
    await expect(reserved()).rejects.toMatchObject({ code: 'too_many_requests' });
    expect(change).not.toHaveBeenCalled();
    release();
    expect(await background.settled(60_000)).toBe(true);
    expect(send).toHaveBeenCalledTimes(1004);
  });

  it.each(MAIL_KINDS)(
    'a refused mail of the kind %s is tried four times, or once if a person can request it',
    async (kind) => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
      const send = jest.fn().mockRejectedValue(new Error('550 no such user'));
      const { queue, failed } = queueOf(send);
      queue.add(kind, async () => draftTo(MAIL.to, true));
      for (let i = 0; i < 5; i++) {
        for (let turns = 0; turns < 5; turns++) await nextTurn();
        await jest.advanceTimersByTimeAsync(1_800_000);
      }
      const attempts = classOf(kind) === 'requested' ? 1 : 4;
      expect([send.mock.calls.length, failed.length]).toEqual([attempts, attempts]);
    },
  );
});

describe('the limits of mails', () => {
  const send = jest.fn(async ({ to }: Mail) => to);
  beforeEach(() => send.mockClear());

  /** Sends mails, and returns how many of them were sent. */
  const sent = async (queue: MailQueue, kind: MailKind, isProved: boolean, times = 12): Promise<number> => {
    let number = 0;
    for (let i = 0; i < times; i++) number += Number(await queue.send(kind, draftTo('victim@example.com', isProved)));
    return number;
  };

  it('all kinds together: an unproved address gets ten mails in an hour, and no notice', async () => {
    const { queue } = queueOf(send);
    const numbers = { requested: 0, security: 0, change: 0 };
    for (const kind of MAIL_KINDS.toReversed()) numbers[classOf(kind)] += await sent(queue, kind, false);
    expect(numbers).toMatchObject({ change: 0 });
    expect(numbers.requested + numbers.security).toBe(10);
    expect(send).toHaveBeenCalledTimes(10);
  });

  it.each(MAIL_KINDS.filter((kind) => classOf(kind) !== 'requested'))(
    'a proved owner gets a mail of the kind %s after the budget was used up, and few of them',
    async (kind) => {
      const { queue } = queueOf(send);
      expect(await sent(queue, 'signInCode', false)).toBe(10);
      const number = await sent(queue, kind, true);
      expect(number).toBeGreaterThanOrEqual(1);
      expect(number).toBeLessThanOrEqual(5);
    },
  );

  it('mails to an unproved address do not use up those of the proved owner of the same address', async () => {
    const { queue } = queueOf(send);
    expect(await sent(queue, 'newSignIn', false)).toBe(5);
    expect(await sent(queue, 'newSignIn', true)).toBe(5);
  });

  it('a mail that was not sent does not count', async () => {
    let isRefusing = true;
    const { queue } = queueOf(async () => {
      if (isRefusing) throw new Error('no mail server');
    });
    for (let i = 0; i < 12; i++)
      await expect(queue.send('signInCode', draftTo('victim@example.com', false))).rejects.toThrow('no mail server');
    isRefusing = false;
    expect(await sent(queue, 'signInCode', false)).toBe(10);
  });

  it.each([
    ['ada@example.com', ' Ada@EXAMPLE.com'],
    ['ada@example.com', 'ada+news@example.com'],
    ['ada@xn--mnchen-3ya.example', 'ada@MÜNCHEN.example'],
    ['ren\u00e9@example.com', 'rene\u0301@example.com'],
  ])('%s and %s are one recipient', (one, other) => expect(mailboxOf(other)).toBe(mailboxOf(one)));

  it('another local part, or another domain, is another recipient', () => {
    const addresses = ['ada@example.com', 'bob@example.com', 'ada@example.org', 'ada.b@example.com'];
    expect(new Set(addresses.map(mailboxOf)).size).toBe(4);
  });
});
