import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createDatabase } from '../support/stores/database';
import { LIBRARY, ROOT, isSource, manifestOf, packLibrary, run } from '../support/packages/package';
import { send } from '../support/hosts/processes';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';
import {
  HOSTS,
  compiledCalls,
  complaintsOfNpm,
  installed,
  listedByNpm,
  resolvedWith,
  sourcesOfDeclarations,
  start,
  typeErrors,
} from './installed';

const manifest = manifestOf(LIBRARY);
const optional = Object.keys(manifest.peerDependenciesMeta!);

/** The packages of the design in their roles. `cache-manager` and its stores are the host's: the library accepts any. */
const ROLES = {
  dependency: ['argon2', 'passport-jwt', 'validator'],
  peer: ['@nestjs/jwt', '@nestjs/passport', 'class-transformer', 'passport'],
  optional: ['@nestjs/throttler', '@simplewebauthn/server', 'class-validator', 'nest-commander', 'otplib'],
} as const;
const REQUIRED = [...ROLES.dependency, ...ROLES.peer];

const integrityOf = (file: string): string => createHash('sha512').update(readFileSync(file)).digest('base64');

describe('the package', () => {
  it('contains the sources, what is compiled from them, its manifest, license, README and changelog, and nothing else', () => {
    const files = run('tar', ['-tzf', packLibrary()], ROOT).trim().split('\n');
    const sources = readdirSync(join(LIBRARY, 'src'), { recursive: true, encoding: 'utf8' }).filter(isSource);
    const compiled = sources.flatMap((file) =>
      ['.js', '.d.ts', '.d.ts.map'].map((end) => `dist/${file.replace(/\.ts$/, end)}`),
    );
    const pages = ['package.json', 'LICENSE', 'README.md', 'CHANGELOG.md'];
    const expected = [...sources.map((file) => `src/${file}`), ...compiled, ...pages].map((file) => `package/${file}`);
    expect(files.toSorted()).toEqual(expected.toSorted());
  });

  it('has at most 2 MB', () => expect(statSync(packLibrary()).size).toBeLessThan(2_000_000));

  // As it is published: with the type check, by another user, and in another folder.
  it('is the same file wherever it is built', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-build-'));
    const built = ['dist', 'CHANGELOG.md'].map((name) => join(LIBRARY, name));
    const isUnbuilt = (path: string): boolean => !built.some((name) => path.startsWith(name));
    const settings = readdirSync(ROOT, { withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.name.endsWith('.tgz'),
    );
    for (const name of [...settings.map((file) => file.name), 'libs/auth'])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: isUnbuilt });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    run('sh', ['-c', 'umask 002 && chmod -R g+w libs *.json *.md && npm run pack:lib'], folder);
    expect(integrityOf(join(folder, basename(packLibrary())))).toBe(integrityOf(packLibrary()));
    rmSync(folder, { recursive: true });
  });

  it('names every module that is imported for its effect, so that a bundler keeps it', () => {
    const folder = join(LIBRARY, 'src');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!spec)\.ts$/.test(file),
    );
    const imported = files.flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return [...text.matchAll(/^import '(\..+)';$/gm)].map(([, name]) => join('dist', dirname(file), `${name}.js`));
    });
    expect(manifest.sideEffects).toEqual(imported.map((file) => `./${file}`).toSorted());
  });

  it('is published without a complaint of npm, for everyone', () => {
    expect(complaintsOfNpm(packLibrary())).toEqual([]);
    expect(manifest.publishConfig).toEqual({ access: 'public' });
  });

  it('resolves with types from ESM and from CommonJS', () => {
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const report = run(process.execPath, [attw, packLibrary(), '--format', 'json'], ROOT);
    expect(JSON.parse(report)).toMatchObject({ problems: {} });
    const publint = join(ROOT, 'node_modules/publint/src/cli.js');
    expect(run(process.execPath, [publint, 'run', packLibrary(), '--strict'], ROOT)).toContain('All good!');
  });
});

describe('the manifest of the package', () => {
  const roleOf = (name: string): string | undefined => {
    if (name in manifest.dependencies!) return 'dependency';
    if (name in manifest.peerDependencies!) return optional.includes(name) ? 'optional' : 'peer';
    return undefined;
  };

  it.each(Object.entries(ROLES))('declares every package with the role "%s"', (role, names) => {
    expect(names.map((name) => [name, roleOf(name)])).toEqual(names.map((name) => [name, role]));
  });

  // A host with the option `pool` needs neither. Others install the version of their Nest.
  it.each(['typeorm', '@nestjs/typeorm'])('declares %s with the role "optional"', (name) =>
    expect(roleOf(name)).toBe('optional'),
  );

  it.each(['cache-manager', 'cache-manager-redis-yet', 'jsonwebtoken'])('does not declare %s', (name) => {
    expect(roleOf(name)).toBeUndefined();
  });
});

/** Runs the command of the package. npm has made its link. */
function command(folder: string, env: NodeJS.ProcessEnv, args: string[]): [number | null, string] {
  const link = join(folder, 'node_modules/.bin/svc-auth');
  const { status, stdout, stderr } = spawnSync(process.execPath, [link, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return [status, stdout + stderr];
}

/** The names of the capabilities that the sources add to `Auth`. */
function capabilitiesInSources(): string[] {
  const folder = join(LIBRARY, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isSource);
  return files.flatMap((file) => {
    const [block = ''] =
      /^ {2}interface Capabilities \{[^]*?^ {2}\}/m.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
    return [...block.matchAll(/^ {4}readonly (\w+):/gm)].map(([, name]) => name!);
  });
}

/** A root module in the format of the host; in ESM with top-level await. */
function rootModule(format: 'module' | 'commonjs'): string {
  const packages = {
    '@nestjs/typeorm': '{ TypeOrmModule }',
    '@svc/auth': '{ AuthModule, UserProvider, authEntities }',
  };
  const imports = Object.entries(packages).map(([name, names]) =>
    format === 'module' ? `import ${names} from '${name}';` : `const ${names} = require('${name}');`,
  );
  return `${imports.join('\n')}
class Users extends UserProvider { findById() {} findByIdentifier() {} idOf() {} }
const AppModule = { module: class Root {}, imports: [
  TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL, entities: authEntities }),
  AuthModule.forRoot({ secret: '${randomBytes(32).toString('hex')}', users: { provider: Users }, features: { accountDeletion: false } }),
] };
${format === 'module' ? 'await undefined;\nexport { AppModule };' : 'exports.AppModule = AppModule;'}
`;
}

describeWithRedis('the package, installed', () => {
  let folders: string[];
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();
    folders = HOSTS.map(installed);
  });
  afterAll(() => database.drop());

  const installedVersion = (folder: string, name: string): unknown =>
    manifestOf(join(folder, 'node_modules', name)).version;
  const stores = () => ({ databaseUrl: database.url, redisUrl: sharedRedisUrl() });

  describe.each(HOSTS.map((kind, i) => [kind.name, kind, i] as const))('installed into %s', (_, kind, i) => {
    /** The optional packages that the host has not named itself. */
    const unnamed = optional.filter((name) => !(name in kind.needs));

    it('installs no optional package', () => {
      expect(unnamed.filter((name) => existsSync(join(folders[i]!, 'node_modules', name)))).toEqual([]);
    });

    it('shows its required packages, and no optional one, to `npm ls`', () => {
      const listed = listedByNpm(folders[i]!);
      expect(REQUIRED.filter((name) => listed[name] !== installedVersion(folders[i]!, name))).toEqual([]);
      expect(unnamed.filter((name) => listed[name] !== null)).toEqual([]);
    });

    it('accepts the optional packages that its host installs, and shows them to `npm ls`', async () => {
      const listed = listedByNpm(await resolvedWith(kind, folders[i]!, ROLES.optional), '--package-lock-only');
      const versions = ROLES.optional.map((name) => [name, listed[name]]);
      expect(versions).toEqual(ROLES.optional.map((name) => [name, manifestOf(ROOT).dependencies![name]]));
    });

    it('has types that compile', () => {
      expect(typeErrors(folders[i]!, kind)).toEqual([]);
    });

    it('has a type for every call of `Auth` without another entry, and a name for what it returns', () => {
      const { calls, errors, unreached } = compiledCalls(folders[i]!, kind);
      const capabilities = capabilitiesInSources();
      const untyped = capabilities.filter((name) => !calls.includes(`auth.${name}`));
      expect({ untyped, errors, unreached }).toEqual({ untyped: [], errors: [], unreached: [] });
      expect(capabilities.length).toBeGreaterThan(20);
    });

    it('has declarations that lead to their sources', () => {
      const declarations = sourcesOfDeclarations(join(folders[i]!, 'node_modules/@svc/auth'));
      expect(declarations['dist/index.d.ts']).toBe('src/index.ts');
      expect(Object.entries(declarations).filter(([, source]) => source === null)).toEqual([]);
    });

    it.each([
      ['Express', false],
      ['Fastify', true],
    ])('signs in, refreshes and signs out on %s', async (name, fastify) => {
      const credentials = { email: `${name.toLowerCase()}-${i}@example.com`, password: 'correct-horse-battery' };
      const { sent: url, stop } = await start(folders[i]!, { ...stores(), fastify, email: credentials.email });
      const { status, body: first } = await send(`${url}/auth/login`, 'POST', credentials);
      expect(status).toBe(200);
      const { body: next } = await send(`${url}/auth/refresh`, 'POST', { refresh_token: first.refresh_token });
      expect((await send(`${url}/me`, 'GET', undefined, next.access_token)).body).toEqual({ email: credentials.email });
      expect((await send(`${url}/auth/logout`, 'POST', undefined, next.access_token)).status).toBe(204);
      expect((await send(`${url}/me`, 'GET', undefined, next.access_token)).status).toBe(401);
      expect((await send(`${url}/auth/refresh`, 'POST', { refresh_token: next.refresh_token })).status).toBe(401);
      stop();
    });

    it('has the command svc-auth, which needs no further package', () => {
      const svcAuth = (...args: string[]) => command(folders[i]!, { ...process.env, DATABASE_URL: database.url }, args);
      expect(svcAuth('secret', '--show')).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
      writeFileSync(join(folders[i]!, '.env.local'), '');
      expect(svcAuth('secret', '--env', '.env.local')).toEqual([0, 'SVC_SECRET is set in .env.local.\n']);
      expect(svcAuth('keygen')).toEqual([0, expect.stringMatching(/^-----BEGIN PRIVATE KEY-----/)]);
      writeFileSync(join(folders[i]!, 'app.module.js'), rootModule(kind.format));
      const [status, output] = svcAuth('doctor', 'app.module.js');
      expect([status, output]).toEqual([
        1,
        expect.stringMatching(/^ok +start +.*app\.module\.js starts\.[^]*Errors: 0\./m),
      ]);
    });

    describe('names the missing package at boot', () => {
      let messages: Record<string, string>;

      beforeAll(async () => {
        const { sent, stop } = await start<Record<string, string>>(folders[i]!, stores());
        messages = sent;
        stop();
      });

      it.each([
        ['twoFactor', 'features.twoFactor needs otplib. Run: npm install otplib'],
        [
          'passkeys',
          'features.passkeys needs the package @simplewebauthn/server. Run: npm install @simplewebauthn/server',
        ],
        ['rules', 'registration.rules needs class-validator. Run: npm install class-validator'],
        ['bcrypt', 'bcryptVerifier() needs bcrypt or bcryptjs. Run: npm install bcryptjs'],
        ['console', '@svc/auth/console needs nest-commander. Run: npm install nest-commander'],
        ['mail', 'nodemailerMailer() needs nodemailer. Run: npm install nodemailer'],
      ])('for %s', (name, message) => expect(messages[name]).toContain(message));
    });
  });
});
