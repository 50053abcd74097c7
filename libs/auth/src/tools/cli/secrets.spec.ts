import { Secrets } from './secrets';

describe('the secrets that svc-auth hides', () => {
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('TRIAL_')) delete process.env[name];
  });

  it.each<[string, string, string]>([
    ['TRIAL_SMTP_PASS', 'a-password', 'a-password'],
    ['TRIAL_SMTP_PASS', 'a-p@ssword', 'a-p%40ssword'],
    ['TRIAL_API_KEYS', 'one-key,two-keys', 'one-key'],
    ['TRIAL_API_KEYS', 'ab,cd,ef', 'ab,cd,ef'],
    ['TRIAL_PRIVATE_KEY', '-----BEGIN-----\\nMHcCAQEE', 'MHcCAQEE'],
    ['TRIAL_URL', 'postgres://app:p%40ssword@db/x', 'p%40ssword'],
    ['TRIAL_URL', 'postgres://app:p%40ssword@db/x', 'p@ssword'],
    ['TRIAL_URL', 'postgres://app:p^ss%25word@db/x', 'p^ss%25word'],
    ['TRIAL_URL', 'postgres://app:p^ss%25word@db/x', 'p%5Ess%25word'],
    ['TRIAL_URL', 'http://me@mail:50%-off-now@proxy', '50%-off-now'],
    ['TRIAL_URL', 'postgres://app:pa/ss#word@db', 'pa/ss#word'],
    ['TRIAL_URL', 'redis://:first-one@a,redis://:second-one@b', 'second-one'],
    ['TRIAL_DSN', 'https://0123456789abcdef@sentry.example.com/1', '0123456789abcdef'],
    ['TRIAL_URL', 'postgres://db/x?user=app&password=a-password', 'a-password'],
  ])('of the variable %s=%s: %s', (name, value, text) => {
    process.env[name] = value;
    expect(new Secrets().hideIn(`error: ${text}.`)).toBe('error: ***.');
  });

  it('of options, of each guard', () => {
    const secrets = new Secrets({
      secret: 'the-first-secret',
      guards: [
        { previousSecrets: ['the-former-secret'], keys: { private: 'a-private-key', passphrase: 'a-passphrase' } },
      ],
      encryption: { key: 'an-encryption-key', previousKeys: ['a-former-key'] },
      redis: { url: 'redis://:redis-password@host', password: 'another-password' },
    });
    const text =
      'the-first-secret the-former-secret a-private-key a-passphrase an-encryption-key a-former-key redis-password another-password';
    expect(secrets.hideIn(text)).toBe(Array.from({ length: 8 }, () => '***').join(' '));
  });

  it('are not the names and addresses of passkeys, short words, and objects of the host', () => {
    process.env.TRIAL_PASSKEY_ORIGINS = 'https://app.example.com';
    process.env.TRIAL_TOKEN = 'short';
    class Client {
      readonly password = 'state-of-a-client';
    }
    const text = 'https://app.example.com short state-of-a-client';
    expect(new Secrets({ client: new Client() }).hideIn(text)).toBe(text);
  });
});
