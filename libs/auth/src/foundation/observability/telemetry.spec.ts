import { Telemetry } from './telemetry';

describe('telemetry without OpenTelemetry in the host', () => {
  it('runs the work and records nothing', async () => {
    const none = new Telemetry(undefined);
    // The default parameter loads the peer. This line removes it.
    Object.assign(none, { api: undefined });
    const work = async () => 'done';
    await expect(none.span('x', {}, work)).resolves.toBe('done');
    await expect(none.span('x', {}, async (span) => span)).resolves.toBeUndefined();
    expect(() => none.count('svc.auth.mail.failures')).not.toThrow();
    expect(() => none.duration('svc.auth.hash.duration', 0)).not.toThrow();
  });
});
