import { type KeyObject, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { parseEnv } from 'node:util';
import { runInNewContext } from 'node:vm';
import type { AuthModuleOptions } from '@svc/auth';
import { authOptionsFromEnv } from '../../libs/auth/src/config/env';
import { resolveOptions } from '../../libs/auth/src/config/resolve-options';
import { Keyring } from '../../libs/auth/src/tokens/keyring';
import { WorkPlace } from './work-place';

const MESSAGE = Buffer.from('a message');

/** The PEMs of an output, ready to use. */
const keysIn = (stdout: string): [privateKey: KeyObject, publicKey: KeyObject] => {
  const pem = (label: string): string =>
    new RegExp(`^-----BEGIN ${label}-----\n[^-]+\n-----END ${label}-----$`, 'm').exec(stdout)?.[0] ?? '';
  return [createPrivateKey(pem('PRIVATE KEY')), createPublicKey(pem('PUBLIC KEY'))];
};

/** The lines for the env file, as `grep ^SVC_` finds them. */
const envLines = (stdout: string): string => stdout.match(/^SVC_.*\n/gm)!.join('');

const keyring = (options: AuthModuleOptions): Keyring => new Keyring(resolveOptions(options).guards.at(-1)!);

/** The module options of a step, with `env` as the application has it then. */
const optionsOf = (entry: string, env: AuthModuleOptions): AuthModuleOptions => ({
  ...env,
  ...JSON.parse(runInNewContext(`JSON.stringify({ ${entry} })`, { env })),
});

/** The ring signs with the key named `kid`, and its signatures verify. */
function expectSigningWith(kid: string, ring: Keyring): void {
  const signature = sign('sha256', MESSAGE, ring.signingKey);
  const [candidate] = ring.candidates(kid);
  expect(ring.activeKid).toBe(kid);
  expect(verify('sha256', MESSAGE, candidate!, signature)).toBe(true);
}

const kidIn = (stdout: string) => parseEnv(envLines(stdout)).SVC_ACTIVE_KID;

describe('svc:keygen', () => {
  let place: WorkPlace;

  beforeEach(() => (place = new WorkPlace()));
  afterEach(() => place.remove());

  /** Runs the command and expects it to succeed. */
  const keygen = (...args: string[]): string => {
    const { status, stdout, stderr } = place.run('svc:keygen', ...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };

  it('makes a pair on P-256 for ES256 unless told otherwise', () => {
    const stdout = keygen();

    const [privateKey, publicKey] = keysIn(stdout);
    expect(parseEnv(envLines(stdout)).SVC_ALGORITHM).toBe('ES256');
    expect(publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(verify('sha256', MESSAGE, publicKey, sign('sha256', MESSAGE, privateKey))).toBe(true);
  });

  it('makes an RSA pair of 3072 bits for RS256', () => {
    const stdout = keygen('--algorithm=RS256');

    const [privateKey, publicKey] = keysIn(stdout);
    expect(parseEnv(envLines(stdout)).SVC_ALGORITHM).toBe('RS256');
    expect(publicKey.asymmetricKeyType).toBe('rsa');
    expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(3072);
    expect(verify('sha256', MESSAGE, publicKey, sign('sha256', MESSAGE, privateKey))).toBe(true);
  });

  it('writes nothing, not even into an env file', () => {
    place.write('A=1\n');

    keygen('--rotate');

    expect(place.files).toEqual(['.env']);
    expect(place.read()).toBe('A=1\n');
  });

  it.each(['HS256', 'es256', 'ES384', 'toString', ''])(
    'refuses the algorithm "%s" and names the supported ones',
    (name) => {
      const { status, stdout, stderr } = place.run('svc:keygen', `--algorithm=${name}`);

      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toBe(`"${name}" is not supported. Use one of: ES256, RS256.\n`);
    },
  );

  describe('names the key', () => {
    it('"k" and eight random hex digits by default', () => {
      const first = kidIn(keygen());

      expect(first).toMatch(/^k[0-9a-f]{8}$/);
      expect(kidIn(keygen())).not.toBe(first);
    });

    it.each(['0', '2026-01/main'])('%j when told so', (kid) => {
      expect(kidIn(keygen(`--kid=${kid}`))).toBe(kid);
    });

    it.each(['a b', 'a#b', 'a"b', 'a\nb', '$a'])('never %j, which an env file would not carry', (kid) => {
      const { status, stdout, stderr } = place.run('svc:keygen', `--kid=${kid}`);

      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toContain('cannot be a kid');
    });
  });

  describe('prints lines for an env file', () => {
    it.each(['ES256', 'RS256'])('that a guard signs and verifies %s with', (algorithm) => {
      const env = parseEnv(envLines(keygen(`--algorithm=${algorithm}`, '--kid=0')));

      const ring = keyring(authOptionsFromEnv(env));

      expect(ring.algorithm).toBe(algorithm);
      expectSigningWith('0', ring);
    });

    it('that also work where nothing unescapes them', () => {
      const lines = envLines(keygen('--kid=raw')).trimEnd().split('\n');
      const env = Object.fromEntries(lines.map((line) => /^(\w+)="?(.*?)"?$/.exec(line)!.slice(1)));

      expect(env.SVC_PRIVATE_KEY).toContain('-----\\n');
      expectSigningWith('raw', keyring(authOptionsFromEnv(env)));
    });

    it('that hold the keys of the PEMs', () => {
      const stdout = keygen();
      const env = parseEnv(envLines(stdout));

      const [privateKey, publicKey] = keysIn(stdout);
      expect(createPrivateKey(env.SVC_PRIVATE_KEY!).equals(privateKey)).toBe(true);
      expect(createPublicKey(env.SVC_PUBLIC_KEY!).equals(publicKey)).toBe(true);
    });
  });

  describe('with --rotate', () => {
    it('numbers the steps from publishing the new key to removing the old one', () => {
      const steps = keygen('--rotate').match(/^\d\. .*/gm)!;

      expect(steps.map((step) => step.slice(0, 2))).toEqual(['1.', '2.', '3.', '4.']);
      expect(steps[0]).toContain('Add the new public key beside the running one');
      expect(steps[1]).toContain('sign with the new key');
      expect(steps[2]).toContain('has expired: at least SVC_ACCESS_TTL + SVC_LEEWAY seconds');
      expect(steps[3]).toContain('Remove the entry');
    });

    it('prints no steps without it', () => {
      expect(keygen()).not.toMatch(/^\d\. /m);
    });

    it('prints options under which both keys verify while they overlap', () => {
      const running = envLines(keygen('--kid=old'));
      place.write(running);

      const stdout = keygen('--rotate', '--kid=new');

      const [publish, keep] = stdout.match(/^ +keys: .*/gm)!;
      const before = keyring(optionsOf(publish!, authOptionsFromEnv(parseEnv(running))));
      const after = keyring(optionsOf(keep!, authOptionsFromEnv(parseEnv(envLines(stdout)))));
      expectSigningWith('old', before);
      expectSigningWith('new', after);
      expect(before.candidates('new')[0]!.equals(after.candidates('new')[0]!)).toBe(true);
      expect(before.candidates('old')[0]!.equals(after.candidates('old')[0]!)).toBe(true);
    });

    it('leaves a place for the running key where the environment has none', () => {
      expect(keygen('--rotate')).toContain('"RUNNING_KID": "RUNNING_PUBLIC_KEY"');
    });

    it('never shows the running private key', () => {
      const running = parseEnv(envLines(keygen('--kid=old')));
      place.write(`SVC_ACTIVE_KID=old\nSVC_PRIVATE_KEY=${JSON.stringify(running.SVC_PRIVATE_KEY)}\n`);

      const stdout = keygen('--rotate');

      expect(stdout).toContain('"old"');
      expect(stdout).not.toContain(running.SVC_PRIVATE_KEY!.split('\n')[1]);
    });

    it('refuses the kid of the running key', () => {
      place.write('SVC_ACTIVE_KID=old\n');

      const { status, stdout, stderr } = place.run('svc:keygen', '--rotate', '--kid=old');

      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toContain('"old" names the running key.');
    });

    it('says that keys of different algorithms do not overlap', () => {
      place.write('SVC_ALGORITHM=RS256\n');

      expect(keygen('--rotate')).toContain('Note: SVC_ALGORITHM is RS256.');
      expect(keygen('--rotate', '--algorithm=RS256')).not.toContain('Note:');
    });
  });
});
