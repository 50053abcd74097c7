import { type LoggerService } from '@nestjs/common';
import { HasherBusy, PasswordHasher } from '@svc/auth';
import { TestApp } from '../support/app';
import { startLimited, someone } from '../support/clients';
import { PASSWORD } from '../support/people';
import { SecurityLines } from '../support/security-lines';

/** What a host's logger is given, all of it. */
function listening() {
  const given: { level: string; args: unknown[] }[] = [];
  const at =
    (level: string) =>
    (...args: unknown[]) =>
      void given.push({ level, args });
  const logger: LoggerService = { log: at('log'), warn: at('warn'), error: at('error'), debug: at('debug') };
  return { given, logger };
}

describe('the security log', () => {
  it('is written to Nest`s logger, one object a line, and holds no secret', async () => {
    const { given, logger } = listening();
    const t = await TestApp.start({ prepare: (app) => app.useLogger(logger) });
    await t.person('ada@example.com');
    const { access_token, refresh_token } = await t.session();
    await t.login('ada@example.com', 'wrong-horse').expect(422);
    await t.get('/private', `${access_token}x`).expect(401);
    await t.refresh(refresh_token.replace(/./, 'x')).expect(401);
    const lines = given.filter(({ args }) => args.at(-1) === 'AuthSecurity');
    expect(lines.map(({ level, args: [line] }) => [level, (line as { event: string }).event])).toEqual([
      ['log', 'auth.login.succeeded'],
      ['warn', 'auth.login.failed'],
      ['warn', 'auth.guard.refused'],
      ['warn', 'auth.refresh.failed'],
    ]);
    const all = JSON.stringify(given);
    for (const secret of [PASSWORD, 'wrong-horse', access_token, refresh_token, 'ada@example.com']) {
      expect(all).not.toContain(secret);
    }
    await t.stop();
  });

  it('alone tells of a full queue: no other log is filled by a flood', async () => {
    const { given, logger } = listening();
    const t = await TestApp.start({
      options: { securityLog: { maxPerMinute: 2 } },
      prepare: (app) => app.useLogger(logger),
    });
    jest.spyOn(t.app.get(PasswordHasher), 'verify').mockRejectedValue(new HasherBusy());
    given.splice(0);
    for (let i = 0; i < 10; i++) await t.login('nobody@example.com').expect(503);
    expect(given.map(({ args }) => args.at(-1))).toEqual(['AuthSecurity', 'AuthSecurity']);
    await t.stop();
  });

  it('can be switched off', async () => {
    const { given, logger } = listening();
    const options = { securityLog: { enabled: false } };
    const t = await TestApp.start({ options, prepare: (app) => app.useLogger(logger) });
    await t.login('nobody@example.com').expect(422);
    expect(given.filter(({ args }) => args.at(-1) === 'AuthSecurity')).toEqual([]);
    await t.stop();
  });

  it('changes nothing where the host`s sink throws or rejects', async () => {
    let sink: () => unknown = () => JSON.parse('no');
    const t = await TestApp.start({ options: { securityLog: { sink: () => sink() } } });
    await t.person('ada@example.com');
    await t.session();
    sink = async () => JSON.parse('no');
    await t.session();
    await t.login('ada@example.com', 'wrong').expect(422);
    await t.stop();
  });

  it('is one line whatever a client says its address is', async () => {
    const log = new SecurityLines();
    const t = await startLimited(log.options);
    const evil = `6.6.6.6\u0085{"event":"auth.login.succeeded"}${'x'.repeat(1000)}`;
    await t.http.post('/auth/login').set('X-Forwarded-For', evil).send({ email: 'nobody@example.com' }).expect(422);
    // The byte of the line's end, and what UTF-8 made of it before.
    expect(log.lines[0]!.ip).toMatch(/^6\.6\.6\.6Â?\?\{"event":"auth\.login\.succeeded"\}x{80,}$/);
    expect(log.lines[0]!.ip).toHaveLength(128);
    await t.stop();
  });

  it('is bounded under a flood, and tells how many lines were left out', async () => {
    const log = new SecurityLines();
    const t = await startLimited({ securityLog: { ...log.options.securityLog, maxPerMinute: 5 } });
    const guess = () =>
      t.http.post('/auth/login').set('X-Forwarded-For', someone()).send({ email: 'nobody@example.com' });
    for (let i = 0; i < 30; i++) await guess();
    await t.get('/private').expect(401);
    const failed = () => log.lines.filter(({ reason }) => reason === 'unknown_user');
    expect(failed()).toHaveLength(5);
    expect(log.lines.at(-1)).toMatchObject({ event: 'auth.guard.refused' });
    await t.stop();
    expect(failed()).toHaveLength(6);
    expect(failed().at(-1)).toEqual({
      event: 'auth.login.failed',
      reason: 'unknown_user',
      guard: 'api',
      suppressed: 25,
    });
  });
});
