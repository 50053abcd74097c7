import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { AuthEvents, MailFailed, PasswordHasher } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { hasherBusy } from '../support/faults/hasher-busy';
import { PASSWORD } from '../support/hosts/user-entities';
import { startChallenge, codeOf, completeChallenge, enrol, startTwoFactor } from '../support/flows/two-factor';

const spans = new InMemorySpanExporter();
const exported = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: exported, exportIntervalMillis: 3_600_000 });
const meters = new MeterProvider({ readers: [reader] });

/** Every metric that docs/operations.md names. */
const METRICS = [
  'svc.auth.account.locks',
  'svc.auth.guard.refusals',
  'svc.auth.hash.duration',
  'svc.auth.hash.queue.length',
  'svc.auth.hash.refusals',
  'svc.auth.hash.wait.duration',
  'svc.auth.mail.failures',
  'svc.auth.operation.duration',
  'svc.auth.rate_limit.refusals',
  'svc.auth.refresh_token.reuses',
  'svc.auth.sessions.ended',
  'svc.auth.sessions.recovered',
  'svc.auth.sessions.started',
];

type Point = { attributes: Record<string, unknown>; value: number };

/** Every metric so far by name, with its points. The value of a histogram is its count. */
async function collected(): Promise<Record<string, Point[]>> {
  exported.reset();
  await meters.forceFlush();
  const all = exported.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  return Object.fromEntries(
    all.map(({ descriptor, dataPoints }) => [
      descriptor.name,
      (dataPoints as DataPoint<number | Histogram>[]).map(({ attributes, value }) => ({
        attributes,
        value: typeof value === 'number' ? value : value.count,
      })),
    ]),
  );
}

describe('telemetry', () => {
  let t: TestApp;
  const sent: string[] = [];

  beforeAll(async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
    // The application starts first, because it must also find an SDK that is registered later.
    t = await startTwoFactor({
      features: { lockout: true },
      lockout: { maxAttempts: 3 },
      rateLimits: { refresh: { maxAttempts: 8 } },
      keyPrefix: `${process.pid}-telemetry:`,
    });
    metrics.setGlobalMeterProvider(meters);
  });
  beforeEach(() => spans.reset());
  afterAll(async () => {
    await t.stop();
    await meters.shutdown();
    trace.disable();
    metrics.disable();
    context.disable();
  });

  const spanOf = (name: string): ReadableSpan => spans.getFinishedSpans().find((span) => span.name === name)!;
  const namesOf = () => spans.getFinishedSpans().map(({ name }) => name);

  it('creates a span for a login, with its outcome and the span of the hash inside it', async () => {
    await t.session();
    const [login, hash] = [spanOf('svc.auth.login'), spanOf('svc.auth.hash')];
    expect(login.attributes).toEqual({
      'svc.auth.guard': 'api',
      'svc.auth.operation': 'login',
      'svc.auth.outcome': 'succeeded',
    });
    expect(hash.parentSpanContext?.spanId).toBe(login.spanContext().spanId);
    expect(hash.attributes['svc.auth.hash.wait']).toEqual(expect.any(Number));
  });

  it('names the reason of a failed login without error status, and of a fault with error status', async () => {
    await t.login('nobody@example.com', 'wrong').expect(422);
    expect(spanOf('svc.auth.login')).toMatchObject({
      attributes: { 'svc.auth.outcome': 'failed', 'error.type': 'unknown_user' },
      status: { code: 0 },
      events: [],
    });
    spans.reset();
    jest.spyOn(t.app.get(PasswordHasher), 'verify').mockRejectedValueOnce(hasherBusy());
    await t.login('nobody@example.com', 'wrong').expect(503);
    expect(spanOf('svc.auth.login')).toMatchObject({
      attributes: { 'error.type': 'hasher_busy' },
      status: { code: 2 },
    });
  });

  it('creates spans for refresh, challenge and the look-ups of the guard', async () => {
    const { access_token, refresh_token } = await t.session();
    await t.refresh(refresh_token).expect(200);
    await t.get('/private', access_token).expect(200);
    expect(namesOf()).toEqual(
      expect.arrayContaining(['svc.auth.refresh', 'svc.auth.guard.denylist', 'svc.auth.guard.user']),
    );
    const { secret } = await enrol(t);
    const challenge_token = await startChallenge(t);
    await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
    expect(spanOf('svc.auth.challenge').attributes).toMatchObject({ 'svc.auth.outcome': 'succeeded' });
    sent.push(access_token, refresh_token, challenge_token, secret);
  });

  it('records every metric of the documented table', async () => {
    const other = 'bob@example.com';
    await t.person(other);
    const { body: rotated } = await t.refresh((await t.session(other)).refresh_token).expect(200);
    // Simulates a standby that was promoted without the rotation.
    await t.database.query('UPDATE svc_sessions SET generation = 0 WHERE generation = 1');
    await t.refresh(rotated.refresh_token).expect(200);
    const { refresh_token } = await t.session(other);
    await t.refresh(refresh_token).expect(200);
    t.clock.advance(31);
    await t.refresh(refresh_token).expect(401);
    await t.get('/private', 'a.b.c').expect(401);
    for (let i = 0; i < 3; i++) await t.login(other, 'wrong').expect(422);
    await t.login(other).expect(423);
    while ((await t.refresh(refresh_token)).status !== 429);
    t.app.get(AuthEvents).emit(new MailFailed('passwordReset', 'api', new Error('x')));
    const hasher = t.app.get(PasswordHasher);
    const full = Array.from({ length: 300 }, () => hasher.hash(PASSWORD));
    const refused = (await Promise.allSettled(full)).filter(({ status }) => status === 'rejected').length;
    expect(refused).toBeGreaterThan(0);

    const now = await collected();
    expect(Object.keys(now).toSorted()).toEqual(METRICS);
    const count = (name: string, expected: object): number =>
      (now[name] ?? [])
        .filter(({ attributes }) => Object.entries(expected).every(([key, value]) => attributes[key] === value))
        .reduce((sum, { value }) => sum + value, 0);
    const ended = (operation: string, outcome: string) =>
      count('svc.auth.operation.duration', { 'svc.auth.operation': operation, 'svc.auth.outcome': outcome });
    expect(ended('login', 'succeeded')).toBeGreaterThan(0);
    expect(ended('login', 'challenged')).toBe(1);
    expect(ended('login', 'failed')).toBeGreaterThanOrEqual(5);
    expect(ended('refresh', 'succeeded')).toBe(4);
    expect(count('svc.auth.operation.duration', { 'error.type': 'reused_token' })).toBe(1);
    expect(count('svc.auth.guard.refusals', { 'error.type': 'invalid_token' })).toBe(1);
    expect(count('svc.auth.rate_limit.refusals', { 'svc.auth.operation': 'refresh' })).toBe(1);
    expect(count('svc.auth.refresh_token.reuses', {})).toBe(1);
    expect(count('svc.auth.sessions.started', { 'svc.auth.guard': 'api' })).toBeGreaterThan(0);
    expect(count('svc.auth.sessions.ended', { 'svc.auth.purpose': 'reuse' })).toBe(1);
    expect(count('svc.auth.sessions.recovered', { 'svc.auth.guard': 'api' })).toBe(1);
    expect(count('svc.auth.account.locks', { 'svc.auth.purpose': 'login' })).toBe(1);
    expect(count('svc.auth.mail.failures', { 'svc.auth.purpose': 'passwordReset' })).toBe(1);
    expect(count('svc.auth.hash.refusals', {})).toBe(refused);
    expect(count('svc.auth.hash.queue.length', {})).toBe(0);
    expect(count('svc.auth.hash.duration', {})).toBe(count('svc.auth.hash.wait.duration', {}));
    sent.push(refresh_token);
  });

  it('contains neither users nor tokens nor addresses', async () => {
    await t.login('carol@example.com', 'wrong').expect(422);
    const kept = spans
      .getFinishedSpans()
      .map(({ name, attributes, status, events }) => [name, attributes, status, events]);
    const all = JSON.stringify([kept, await collected()]);
    for (const secret of [...sent, PASSWORD, 'ada@', 'bob@', 'carol@', '127.0.0.1', 'user_id'])
      expect(all).not.toContain(secret);
    const keys = new Set(all.match(/"(?:svc\.auth|error)\.[a-z_.]+":/g));
    expect(
      [...keys].filter(
        (key) => !/guard|operation|outcome|type|purpose|hash/.test(key) && !METRICS.includes(key.slice(1, -2)),
      ),
    ).toEqual([]);
  });
});
