import { type KeyObject, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { parseEnv } from 'node:util';
import { runInNewContext } from 'node:vm';
import { type AuthModuleOptions, authOptionsFromEnv } from '@svc/auth';
import { TestApp, type Tokens } from '../support/hosts/app';
import { WorkingDirectory } from './working-directory';

const MESSAGE = Buffer.from('a message');

/** The PEMs of an output, ready to use. */
const keysIn = (stdout: string): [privateKey: KeyObject, publicKey: KeyObject] => {
  const pem = (label: string): string =>
    new RegExp(`^-----BEGIN ${label}-----\n[^-]+\n-----END ${label}-----$`, 'm').exec(stdout)?.[0] ?? '';
  return [createPrivateKey(pem('PRIVATE KEY')), createPublicKey(pem('PUBLIC KEY'))];
};

/** The lines for the env file, selected as by `grep ^SVC_`. */
const envLines = (stdout: string): string => stdout.match(/^SVC_.*\n/gm)!.join('');

/** The module options of a step, with the environment that the application has in this step. */
const optionsOf = (entry: string, env: AuthModuleOptions): AuthModuleOptions => ({
  ...env,
  ...JSON.parse(runInNewContext(`JSON.stringify({ ${entry} })`, { env })),
});

const headerOf = ({ access_token }: Tokens) =>
  JSON.parse(Buffer.from(access_token.split('.')[0]!, 'base64url').toString()) as { alg: string; kid: string };

const kidIn = (stdout: string) => parseEnv(envLines(stdout)).SVC_ACTIVE_KID;

describe('svc:keygen', () => {
  let place: WorkingDirectory;

  beforeEach(() => (place = new WorkingDirectory()));
  afterEach(() => place.remove());

  const hosts: TestApp[] = [];
  afterEach(async () => {
    for (const t of hosts.splice(0).toReversed()) await t.stop();
  });

  /** A host that signs with the keys of these options. */
  const host = async (options: AuthModuleOptions, databaseUrl?: string): Promise<TestApp> => {
    const t = await TestApp.start({ options, databaseUrl });
    hosts.push(t);
    if (!databaseUrl) await t.person('ada@example.com');
    return t;
  };

  /** Starts a session and requires that its host accepts the token. */
  const signIn = async (t: TestApp): Promise<Tokens> => {
    const session = await t.session();
    await t.get('/private', session.access_token).expect(200);
    return session;
  };

  /** Runs the command and requires that it succeeds. */
  const keygen = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await place.run('svc:keygen', ...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };

  let rsa: Promise<string> | undefined;
  /** The output of one command for RS256: a pair of RSA keys costs much. */
  const rsaKeygen = (): Promise<string> => (rsa ??= keygen('--algorithm=RS256', '--kid=0'));

  it('makes a pair on P-256 for ES256 by default', async () => {
    const stdout = await keygen();

    const [privateKey, publicKey] = keysIn(stdout);
    expect(parseEnv(envLines(stdout)).SVC_ALGORITHM).toBe('ES256');
    expect(publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(verify('sha256', MESSAGE, publicKey, sign('sha256', MESSAGE, privateKey))).toBe(true);
  });

  it('makes an RSA pair of 3072 bits for RS256', async () => {
    const stdout = await rsaKeygen();

    const [privateKey, publicKey] = keysIn(stdout);
    expect(parseEnv(envLines(stdout)).SVC_ALGORITHM).toBe('RS256');
    expect(publicKey.asymmetricKeyType).toBe('rsa');
    expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(3072);
    expect(verify('sha256', MESSAGE, publicKey, sign('sha256', MESSAGE, privateKey))).toBe(true);
  });

  it('writes no file, not even an existing env file', async () => {
    place.write('A=1\n');

    await keygen('--rotate');

    expect(place.files).toEqual(['.env']);
    expect(place.read()).toBe('A=1\n');
  });

  it.each(['HS256', 'es256', 'ES384', 'toString', ''])(
    'refuses the algorithm "%s" and names the supported ones',
    async (name) => {
      const { status, stdout, stderr } = await place.run('svc:keygen', `--algorithm=${name}`);

      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toBe(`"${name}" is not supported. Use one of: ES256, RS256.\n`);
    },
  );

  describe('names the key', () => {
    it('with "k" and eight random hex digits by default', async () => {
      const first = kidIn(await keygen());

      expect(first).toMatch(/^k[0-9a-f]{8}$/);
      expect(kidIn(await keygen())).not.toBe(first);
    });

    it.each(['0', '2026-01/main'])('%j if the option is set', async (kid) => {
      expect(kidIn(await keygen(`--kid=${kid}`))).toBe(kid);
    });

    it.each(['a b', 'a#b', 'a"b', 'a\nb', '$a'])('never %j, because an env file cannot contain it', async (kid) => {
      const { status, stdout, stderr } = await place.run('svc:keygen', `--kid=${kid}`);

      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toContain('cannot be a kid');
    });
  });

  describe('prints lines for an env file', () => {
    it.each([
      ['ES256', () => keygen('--algorithm=ES256', '--kid=0')],
      ['RS256', rsaKeygen],
    ])('with which a guard signs and verifies %s', async (algorithm, printed) => {
      const env = parseEnv(envLines(await printed()));

      const session = await signIn(await host(authOptionsFromEnv(env)));

      expect(headerOf(session)).toMatchObject({ alg: algorithm, kid: '0' });
    });

    it('that also work if line breaks stay escaped', async () => {
      const lines = envLines(await keygen('--kid=raw'))
        .trimEnd()
        .split('\n');
      const env = Object.fromEntries(lines.map((line) => /^(\w+)="?(.*?)"?$/.exec(line)!.slice(1)));

      expect(env.SVC_PRIVATE_KEY).toContain('-----\\n');
      const session = await signIn(await host(authOptionsFromEnv(env)));
      expect(headerOf(session)).toMatchObject({ kid: 'raw' });
    });

    it('that contain the keys of the PEMs', async () => {
      const stdout = await keygen();
      const env = parseEnv(envLines(stdout));

      const [privateKey, publicKey] = keysIn(stdout);
      expect(createPrivateKey(env.SVC_PRIVATE_KEY!).equals(privateKey)).toBe(true);
      expect(createPublicKey(env.SVC_PUBLIC_KEY!).equals(publicKey)).toBe(true);
    });
  });

  describe('with --rotate', () => {
    it('prints numbered steps from the publication of the new key to the removal of the old one', async () => {
      const steps = (await keygen('--rotate')).match(/^\d\. .*/gm)!;

      expect(steps.map((step) => step.slice(0, 2))).toEqual(['1.', '2.', '3.', '4.']);
      expect(steps[0]).toContain('Add the new public key beside the running one');
      expect(steps[1]).toContain('sign with the new key');
      expect(steps[2]).toContain('has expired: at least SVC_ACCESS_TTL + SVC_LEEWAY seconds');
      expect(steps[3]).toContain('Remove the entry');
    });

    it('prints no steps without the option', async () => {
      expect(await keygen()).not.toMatch(/^\d\. /m);
    });

    it('prints options with which both keys verify during the overlap', async () => {
      const running = envLines(await keygen('--kid=old'));
      place.write(running);

      const stdout = await keygen('--rotate', '--kid=new');

      const [publish, keep] = stdout.match(/^ +keys: .*/gm)!;
      const before = await host(optionsOf(publish!, authOptionsFromEnv(parseEnv(running))));
      const after = await host(optionsOf(keep!, authOptionsFromEnv(parseEnv(envLines(stdout)))), before.databaseUrl);
      const [older, newer] = [await signIn(before), await signIn(after)];
      expect([headerOf(older).kid, headerOf(newer).kid]).toEqual(['old', 'new']);
      await before.get('/private', newer.access_token).expect(200);
      await after.get('/private', older.access_token).expect(200);
    });

    it('prints a placeholder if the environment has no current key', async () => {
      expect(await keygen('--rotate')).toContain('"RUNNING_KID": "RUNNING_PUBLIC_KEY"');
    });

    it('never prints the current private key', async () => {
      const running = parseEnv(envLines(await keygen('--kid=old')));
      place.write(`SVC_ACTIVE_KID=old\nSVC_PRIVATE_KEY=${JSON.stringify(running.SVC_PRIVATE_KEY)}\n`);

      const stdout = await keygen('--rotate');

      expect(stdout).toContain('"old"');
      expect(stdout).not.toContain(running.SVC_PRIVATE_KEY!.split('\n')[1]);
    });

    it('refuses the kid of the current key', async () => {
      place.write('SVC_ACTIVE_KID=old\n');

      const { status, stdout, stderr } = await place.run('svc:keygen', '--rotate', '--kid=old');

      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toContain('"old" names the running key.');
    });

    it('prints a note that keys of different algorithms do not overlap', async () => {
      place.write('SVC_ALGORITHM=RS256\n');

      expect(await keygen('--rotate')).toContain('Note: SVC_ALGORITHM is RS256.');
      expect(await keygen('--rotate', '--algorithm=RS256')).not.toContain('Note:');
    });
  });
});
