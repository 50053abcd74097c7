import { chmodSync, lstatSync, statSync, symlinkSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { WorkingDirectory } from './working-directory';

const SECRET = /^[0-9a-f]{64}$/;
const OLD = 'the-old-secret';

describe('svc:secret', () => {
  let place: WorkingDirectory;

  beforeEach(() => (place = new WorkingDirectory()));
  afterEach(() => place.remove());

  const secretIn = (name = 'SVC_SECRET', file = '.env') => parseEnv(place.read(file))[name];

  describe('with --show', () => {
    it('prints only 32 random bytes as hex', async () => {
      const first = await place.run('svc:secret', '--show');
      const second = await place.run('svc:secret', '--show');

      expect(first).toEqual({ status: 0, stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/), stderr: '' });
      expect(second.stdout).not.toBe(first.stdout);
    });

    it('creates no file', async () => {
      await place.run('svc:secret', '--show');

      expect(place.files).toEqual([]);
    });

    it('does not change an env file, even with --force', async () => {
      place.write(`SVC_SECRET=${OLD}\n`);

      const { status } = await place.run('svc:secret', '--show', '--force');

      expect(status).toBe(0);
      expect(place.read()).toBe(`SVC_SECRET=${OLD}\n`);
    });
  });

  describe('into an env file without a secret', () => {
    it('appends one line', async () => {
      place.write('PORT=3000\n');

      expect((await place.run('svc:secret')).status).toBe(0);

      expect(place.read()).toMatch(/^PORT=3000\nSVC_SECRET=[0-9a-f]{64}\n$/);
    });

    it('reports the result without the secret', async () => {
      place.write('');

      const { stdout, stderr } = await place.run('svc:secret');

      expect({ stdout, stderr }).toEqual({ stdout: 'SVC_SECRET is set in .env.\n', stderr: '' });
      expect(secretIn()).toMatch(SECRET);
    });

    it('ends a last line without a line break before its own', async () => {
      place.write('PORT=3000');

      await place.run('svc:secret');

      expect(place.read()).toMatch(/^PORT=3000\nSVC_SECRET=[0-9a-f]{64}\n$/);
    });

    it('uses the line breaks of the file', async () => {
      place.write('PORT=3000\r\n');

      await place.run('svc:secret');

      expect(place.read()).toMatch(/^PORT=3000\r\nSVC_SECRET=[0-9a-f]{64}\r\n$/);
    });

    it('ignores comments, longer names and lines inside quotes', async () => {
      const text = '# SVC_SECRET=a\nMY_SVC_SECRET=b\nSVC_SECRET_X=c\nNOTE="see\nSVC_SECRET=d\n"\n';
      place.write(text);

      expect((await place.run('svc:secret')).status).toBe(0);

      expect(place.read().slice(0, text.length)).toBe(text);
      expect(secretIn()).toMatch(SECRET);
    });

    it.each(['SVC_SECRET=', 'SVC_SECRET=""', 'SVC_SECRET= # to do'])(
      'replaces "%s" without confirmation',
      async (line) => {
        place.write(`A=1\n${line}\nB=2\n`);

        expect((await place.run('svc:secret')).status).toBe(0);

        expect(place.read()).toMatch(/^A=1\nSVC_SECRET=[0-9a-f]{64}( # to do)?\nB=2\n$/);
      },
    );

    it('leaves no temporary file behind', async () => {
      place.write('');

      await place.run('svc:secret');

      expect(place.files).toEqual(['.env']);
    });
  });

  describe('with an existing secret', () => {
    const TEXT = `# caf\xe9\r\nA=1\nexport SVC_SECRET="${OLD}" # rotate me\n\n  B = "x\ny"\nlast`;

    beforeEach(() => place.write(Buffer.from(TEXT, 'latin1')));

    it('keeps it and exits with 1 without a terminal', async () => {
      const { status, stdout, stderr } = await place.run('svc:secret');

      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toBe('SVC_SECRET is already set in .env and was left as it is. Overwrite it with: --force\n');
      expect(place.read()).toBe(TEXT);
    });

    it.each([
      ['no', 'n\n'],
      ['nothing', '\n'],
      ['the end of the input', ''],
    ])('keeps it and exits with 1 if the answer is %s', async (_answer, typed) => {
      const { status, stderr } = await place.answer(typed, 'svc:secret');

      expect(stderr).toContain('Overwrite it? [y/N]');
      expect(status).toBe(1);
      expect(place.read()).toBe(TEXT);
    });

    it.each(['y\n', 'YES\n'])('overwrites it if the answer is %j', async (typed) => {
      const { status, stderr } = await place.answer(typed, 'svc:secret');

      expect(stderr).toContain('unless it moves to SVC_PREVIOUS_SECRETS');
      expect(status).toBe(0);
      expect(secretIn()).toMatch(SECRET);
    });

    it.each(['-f', '--force'])('overwrites it in place with %s and changes no other byte', async (flag) => {
      const { status, stderr } = await place.run('svc:secret', flag);

      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(place.read()).toBe(TEXT.replace(`"${OLD}"`, secretIn()!));
    });

    it('overwrites every line that sets it', async () => {
      place.write(`SVC_SECRET=${OLD}\nSVC_SECRET=${OLD}\n`);

      await place.run('svc:secret', '-f');

      expect(place.read()).toMatch(/^SVC_SECRET=([0-9a-f]{64})\nSVC_SECRET=\1\n$/);
    });

    it('keeps the mode of the file', async () => {
      chmodSync(place.path('.env'), 0o640);

      await place.run('svc:secret', '-f');

      expect(statSync(place.path('.env')).mode & 0o777).toBe(0o640);
    });

    it('writes through a symbolic link', async () => {
      symlinkSync('.env', place.path('link'));

      await place.run('svc:secret', '-f', '--env=link');

      expect(lstatSync(place.path('link')).isSymbolicLink()).toBe(true);
      expect(secretIn()).toMatch(SECRET);
    });
  });

  describe('with --guard', () => {
    it('writes the secret of that guard, under the name that authOptionsFromEnv reads', async () => {
      place.write(`SVC_SECRET=${OLD}\n`);

      expect((await place.run('svc:secret', '--guard=back-office_2')).status).toBe(0);

      expect(secretIn('SVC_BACK_OFFICE_2_SECRET')).toMatch(SECRET);
      expect(secretIn()).toBe(OLD);
    });

    it.each(['', 'a b', 'a.b', 'a=b', 'a\nb', 'é'])('refuses the name %j', async (guard) => {
      place.write('A=1\n');

      const { status, stderr } = await place.run('svc:secret', `--guard=${guard}`);

      expect(status).toBe(1);
      expect(stderr).toContain('is no guard name');
      expect(place.read()).toBe('A=1\n');
    });
  });

  describe('without an env file', () => {
    it('creates none, exits with 1 and names the correction', async () => {
      const { status, stdout, stderr } = await place.run('svc:secret');

      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toBe('There is no env file .env. Create it, or print a secret with: npx svc-auth secret --show\n');
      expect(place.files).toEqual([]);
    });

    it('exits with 1 even with --force', async () => {
      expect((await place.run('svc:secret', '-f')).status).toBe(1);
      expect(place.files).toEqual([]);
    });
  });

  describe('with --env', () => {
    it('writes to that file and to no other', async () => {
      place.write('A=1\n');
      place.write('', 'production.env');

      expect((await place.run('svc:secret', '--env=production.env')).status).toBe(0);

      expect(secretIn('SVC_SECRET', 'production.env')).toMatch(SECRET);
      expect(place.read()).toBe('A=1\n');
    });

    it('exits with 1 when that file is missing', async () => {
      place.write('A=1\n');

      const { status, stderr } = await place.run('svc:secret', '--env=missing.env');

      expect(status).toBe(1);
      expect(stderr).toContain('There is no env file missing.env.');
      expect(place.files).toEqual(['.env']);
    });
  });

  it('exits with 1 and the reason if the file cannot be replaced', async () => {
    // The name has the maximum length, so that no longer name is possible for the temporary file beside it.
    const name = 'e'.repeat(250);
    place.write('A=1\n', name);

    const { status, stdout, stderr } = await place.run('svc:secret', `--env=${name}`);

    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('ENAMETOOLONG');
    expect(place.read(name)).toBe('A=1\n');
  });
});
