import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as surface from '@svc/auth';
import * as accessKeys from '@svc/auth/access-keys';
import * as boundSessions from '@svc/auth/bound-sessions';
import * as identities from '@svc/auth/identities';
import * as languages from '@svc/auth/languages';
import * as openapi from '@svc/auth/openapi';
import * as drizzle from '@svc/auth/drizzle';
import * as operators from '@svc/auth/operators';
import * as prisma from '@svc/auth/prisma';
import * as cluster from '@svc/auth/redis-cluster';
import { openApiFile } from '../../docs/generate-openapi';
import * as ts from 'typescript';
import { optionsPage } from '../../docs/generate-options';
import { routesPage } from '../../docs/generate-routes';
import {
  EXAMPLE_PAGES,
  FOLDERS_OF_TABS,
  PAGES,
  SHOWN,
  SHOWN_IN_TABS,
  blocksOf,
  codeAt,
  fileOf,
  filesOf,
} from '../docs/blocks';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Pages that name a test for each statement. */
const PROVED = ['docs/invariants.md', 'docs/standards.md'];

/** Pages that name options. */
const CLAIMS = ['SECURITY.md', 'docs/standards.md'];

/** Points that are met by the absence of code. */
const NO_CODE = new Set(['6.5.7']);

const pathsIn = (page: string): string[] =>
  [...page.matchAll(/`((?:test|libs|docs|apps)\/[\w/.-]+)`/g)].map(([, path]) => path!);

/** The possible files of a path: the path itself, or a test that is named without its suffix. */
const filesAt = (path: string): string[] =>
  /\.(ts|md)$/.test(path) ? [path] : ['.e2e-spec.ts', '.alone-spec.ts', '.spec.ts'].map((ending) => path + ending);

/** Examples whose page leads from an empty folder to the whole application. */
const WHOLE = ['examples/prisma', 'examples/drizzle'];

/** The rows of every table of a page as lists of cells, without the header rows. */
const rowsOf = (page: string): string[][] =>
  page
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| (#|§|-)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

/** The event classes that the library emits, each with its fields in the format of the page. */
function payloadsOf(sources: string[]): [name: string, payload: string][] {
  const emitted = new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/\b(?:emit|announce)\(\s*new (?:\w+\.)?(\w+)/g)].map(([, name]) => name),
    ),
  );
  const classes = sources.flatMap((text) =>
    ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true).statements.filter(ts.isClassDeclaration),
  );
  /** The constructor of a class, or of its base in the same file. */
  const makersOf = ({ members, heritageClauses, parent }: ts.ClassDeclaration): ts.ConstructorDeclaration[] => {
    const own = members.filter(ts.isConstructorDeclaration);
    const base = heritageClauses?.[0]?.types[0]?.expression.getText();
    const inherited = classes.filter((one) => one.parent === parent && one.name?.text === base);
    return own.length ? own : inherited.flatMap(makersOf);
  };
  return classes
    .filter(({ name }) => emitted.has(name?.text))
    .map((event) => {
      const properties = event.members.filter(ts.isPropertyDeclaration);
      const parameters = makersOf(event).flatMap((maker) => [...maker.parameters]);
      const fields = [...parameters, ...properties].map(
        ({ name, type, initializer }) =>
          `\`${name.getText()}: ${(type ?? initializer)!.getText().replaceAll('|', '\\|')}\``,
      );
      return [event.name!.text, fields.join(', ')];
    });
}

/** The anchor of a heading. */
const anchor = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe('the documentation', () => {
  it('contains the generated page of options: npm run docs', () => {
    expect(read('docs/options.md')).toBe(optionsPage());
  });

  it('lists every event with the names and types of its fields, and no other event', () => {
    const files = readdirSync(join(ROOT, 'libs/auth/src'), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => /(?<!spec)\.ts$/.test(file));
    const events = payloadsOf(sources.map((file) => read(join('libs/auth/src', file))));
    const rows = [...read('docs/events.md').matchAll(/^\| `(\w+)` +\| ((?:\\\||[^|])*?) +\|/gm)];
    expect(rows.map(([, name, payload]) => [name, payload]).toSorted()).toEqual(events.toSorted());
    for (const [name] of events)
      expect({ ...surface, ...accessKeys, ...boundSessions, ...identities, ...operators }).toHaveProperty(name);
  });

  it.each(PROVED)('%s names tests and files that exist', (page) => {
    const named = pathsIn(read(page));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !filesAt(path).some((file) => existsSync(join(ROOT, file))))).toEqual([]);
  });

  it.each(CLAIMS)('%s names options that exist', (page) => {
    const options = read('docs/options.md');
    const named = [...read(page).matchAll(/`([a-z]\w+\.\w+)(?:: \w+)?`/gi)].map(([, name]) => name!);
    const known = named.filter((name) => options.includes(`| \`${name.split('.')[0]}\` |`));
    expect(known.length).toBeGreaterThan(5);
    expect(known.filter((name) => !options.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('states for every point of a standard how and where it is met', () => {
    const points = rowsOf(read('docs/standards.md')).filter(([number]) => /\d|—/.test(number!));
    expect(points.length).toBeGreaterThan(100);
    for (const cells of points) {
      const [status, where] = cells.slice(-2);
      expect([cells[0], status]).toEqual([cells[0], expect.stringMatching(/^(met|partly|not met|host's|n\/a)$/)]);
      // A point that is met names a file or a link.
      if (status === 'met' && !NO_CODE.has(cells[0]!)) expect(where).toMatch(/`(test|libs)\/|\]\(/);
    }
  });

  // A block that names a file is the whole file. The lines of others are compared without their indentation.
  it.each([...SHOWN])('shows in %s the code of %s', (page, source) => {
    const plain = (text: string): string => text.replaceAll(/^ +/gm, '');
    const blocks = blocksOf(page).filter(({ language }) => language === 'ts');
    expect(blocks.length).toBeGreaterThan(0);
    for (const { text: block, tab } of blocks) {
      const [label, file] = /^\/\/ (\S+\.ts)\n/.exec(block) ?? [];
      if (label) expect(block.slice(label.length)).toBe(read(join(source, FOLDERS_OF_TABS.get(tab) ?? '', file!)));
      else expect(plain(codeAt(source))).toContain(plain(block));
    }
  });

  it.each([...SHOWN_IN_TABS])('shows in the tab %s of the quick start the code of %s', (tab, source) => {
    const shown = filesOf('docs/quick-start.md', tab).filter(({ file }) => file !== 'src/app.controller.ts');
    expect(shown.length).toBeGreaterThan(1);
    for (const { file, text } of shown) expect(text.replace(`// ${file}\n`, '')).toBe(read(`${source}/${file}`));
  });

  // So the example, which is compiled and run, is what a reader of the page has. Prisma generates its client.
  it.each([...SHOWN].filter(([, source]) => WHOLE.includes(source)))(
    'shows in %s all files that its files import',
    (page) => {
      const files = new Map(blocksOf(page).flatMap((block) => (fileOf(block) ? [[fileOf(block)!, block.text]] : [])));
      const missing = [...files].flatMap(([file, text]) =>
        [...text.matchAll(/ from '(\.[^']*)\.js'/g)]
          .map(([, module]) => `${join(file, '..', module!)}.ts`)
          .filter((imported) => !files.has(imported) && imported !== 'src/generated/client.ts')
          .map((imported) => `${file} imports ${imported}`),
      );
      expect(files.size).toBeGreaterThan(5);
      expect(missing).toEqual([]);
    },
  );

  it('contains the generated OpenAPI document: npm run docs', async () => {
    expect(read('docs/openapi.json')).toBe(await openApiFile());
  });

  it('contains the generated page of routes: npm run docs', async () => {
    expect(read('docs/routes.md')).toBe(await routesPage());
  });

  it('links to pages and headings that exist', () => {
    const broken = [...PAGES, ...EXAMPLE_PAGES].flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].flatMap(([, target, heading]) => {
        const file = join(page, target ? join('..', target) : '');
        // The status of a workflow is at the host of the repository, outside of its files.
        if (page === 'README.md' && target!.startsWith('../../actions/')) return [];
        if (!existsSync(join(ROOT, file))) return [`${page}: ${file}`];
        const headings = [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, text]) => anchor(text!));
        return heading && !headings.includes(heading) ? [`${page}: ${file}#${heading}`] : [];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('names options that exist', () => {
    const options = new Set([...read('docs/options.md').matchAll(/^\| `([\w.]+)`/gm)].map(([, option]) => option!));
    const blocks = new Set([...options].filter((option) => option.includes('.')).map((option) => option.split('.')[0]));
    // The first column of this page, and its lists of names, are those of the original interface.
    const here = (page: string): string =>
      page === 'docs/specification.md' ? read(page).replaceAll(/^\|[^|]*\||^In camelCase: .*$/gm, '|') : read(page);
    const unknown = PAGES.flatMap((page) =>
      [...here(page).matchAll(/`([a-z]\w*)\.([a-z]\w*(?:\.[a-z]\w*)?)(?:: [^`]*)?`/g)]
        .filter(([, block, rest]) => blocks.has(block) && rest !== 'ts' && !options.has(`${block}.${rest}`))
        .map(([text]) => `${page}: ${text}`),
    );
    expect(unknown).toEqual([]);
  });

  it('names for each built-in ability the routes that need it', () => {
    const needs = rowsOf(read('docs/routes.md')).flatMap(([route, , , needed]) =>
      [...(/pinned session: (`[\w.]+`)/.exec(needed ?? '') ?? [])].slice(1).map((ability) => [ability, route!]),
    );
    const table = rowsOf(read('docs/abilities.md')).filter(([ability]) => ability!.startsWith('`svc.'));
    const named = table.flatMap(([ability, routes]) =>
      [...routes!.matchAll(/`[A-Z]+ \/[^`]*`/g)].map(([route]) => [ability, route]),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.toSorted()).toEqual(needs.toSorted());
  });

  it('has as many cells in each row of a table as in its head', () => {
    const uneven = [...PAGES, ...EXAMPLE_PAGES].flatMap((page) => {
      const cells = (line: string): number => line.match(/(?<!\\)\|/g)?.length ?? 0;
      const lines = read(page)
        .replaceAll(/```[\s\S]*?```/g, '')
        .split('\n')
        .map((line) => line.trim());
      return lines
        .filter(
          (line, i) => line.startsWith('|') && lines[i - 1]?.startsWith('|') && cells(line) !== cells(lines[i - 1]!),
        )
        .map((line) => `${page}: ${line}`);
    });
    expect(uneven).toEqual([]);
  });

  it('lists the codes of all exceptions', () => {
    const sources = readdirSync(join(ROOT, 'libs/auth/src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!spec)\.ts$/.test(file))
      .map((file) => read(join('libs/auth/src', file)));
    const codes = sources.flatMap((text) =>
      [
        ...text.matchAll(
          /^export class \w+ extends (?:errors\.)?(?:AuthException|ServerBusy) \{.*?super\(\s*['`](\w+)/gms,
        ),
      ].map(([, code]) => code!),
    );
    const page = read('docs/server-calls.md');
    const listed = rowsOf(page.slice(page.indexOf('## Codes'))).map(([code]) => code!.replaceAll('`', ''));
    const expected = codes.map((code) => (code === 'passkey_' ? listed.filter((one) => one.startsWith(code)) : code));
    expect(listed.filter((code) => code !== 'Code')).toEqual([...new Set(expected.flat())].toSorted());
  });

  it('has every page in its index, or in that of the decisions', () => {
    const unlisted = (folder: string, pages: readonly string[]): string[] => {
      const index = read(`${folder}/README.md`);
      return pages.filter((page) => !index.includes(`(${page.slice(folder.length + 1)})`));
    };
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    const isDecision = (page: string): boolean => /\/decisions\/(?!README)/.test(page);
    expect(
      unlisted(
        'docs',
        pages.filter((page) => !isDecision(page)),
      ),
    ).toEqual([]);
    expect(unlisted('docs/decisions', pages.filter(isDecision))).toEqual([]);
  });
});

describe('the public exports of the package', () => {
  it('are exactly these names', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'Abilities',
      'AbilitiesGuard',
      'AcceptsTicket',
      'AccessTokenGuard',
      'AccountDeleted',
      'AccountDeleting',
      'AccountFlow',
      'AccountLocked',
      'AccountReleased',
      'AnyAbility',
      'AnyAbilityGuard',
      'Auth',
      'AuthConfigError',
      'AuthEvents',
      'AuthException',
      'AuthHealth',
      'AuthModule',
      'Authenticated',
      'BreachedPasswords',
      'ChallengeFlow',
      'Clock',
      'ConfirmationFlow',
      'ConfirmationGuard',
      'CurrentCaller',
      'CurrentUser',
      'DeviceTrusted',
      'EmailChange',
      'EmailChangeFlow',
      'EmailChangeRequested',
      'EmailChangeUndone',
      'EmailChanged',
      'EmailCodeFlow',
      'EmailDelivery',
      'EmailVerificationFlow',
      'EnrolmentFlow',
      'FactorGuard',
      'ForceJson',
      'KnownDevice',
      'KnownDeviceFlow',
      'Lockout',
      'LockoutCounter',
      'LoginFlow',
      'MailFailed',
      'Mailer',
      'Passkey',
      'PasskeyAdded',
      'PasskeyBackupChanged',
      'PasskeyCloneDetected',
      'PasskeyFlow',
      'PasskeyRemoved',
      'PasswordChangeFlow',
      'PasswordChanged',
      'PasswordHasher',
      'PasswordReset',
      'PasswordResetFlow',
      'PasswordResetToken',
      'PasswordVerifier',
      'Presenter',
      'Pruning',
      'PruningFailed',
      'Public',
      'PwnedPasswords',
      'RecentLoginGuard',
      'RecoveryCodeUsed',
      'RecoveryCodesReplaced',
      'RefreshFamilyForked',
      'RefreshTokenReused',
      'Registered',
      'RegistrationFlow',
      'RequireAbilityIfPinned',
      'RequireConfirmation',
      'RequireFactor',
      'RequireRecentLogin',
      'RequireVerifiedEmail',
      'RequiredEnrolmentFlow',
      'SecurityStore',
      'ServerRequest',
      'Session',
      'SessionEnded',
      'SessionFlow',
      'SessionRecovered',
      'SessionStarted',
      'SharedThrottlerStorage',
      'SignInReported',
      'StoreUnavailable',
      'Throttled',
      'TokenAbilityDenied',
      'TrustedDevice',
      'TrustedDeviceFlow',
      'TwoFactor',
      'TwoFactorDisabled',
      'TwoFactorEnabled',
      'TwoFactorUnusable',
      'Unauthenticated',
      'UserProvider',
      'UserResource',
      'UsernameChangeFlow',
      'UsernameChanged',
      'ValidationFailed',
      'ValidationPipe',
      'Verified',
      'VerifiedEmailGuard',
      'addTwoFactorColumns',
      'authEntities',
      'authMigrations',
      'authOptionsFromEnv',
      'bcryptVerifier',
      'defineAbilities',
      'firebaseScryptVerifier',
      'migrateAuth',
      'nodemailerMailer',
      'pbkdf2Verifier',
      'phpassVerifier',
      'scryptVerifier',
      'tokenAbilities',
      'tokenCan',
      'tokenCannot',
      'withAuthColumns',
      'withTwoFactorColumns',
    ]);
  });

  // Four of them only have a name so that declarations of a host can infer it: `declaration: true`, as `nest new` sets.
  it('are at most 174, with the types', () => {
    const lists = [...read('libs/auth/src/index.ts').matchAll(/^export (?:type )?\{([^}]*)\} from /gm)];
    expect(lists).toHaveLength(read('libs/auth/src/index.ts').match(/^export /gm)!.length);
    const names = lists.flatMap(([, list]) => list!.split(',').filter((name) => name.trim()));
    expect(names.length).toBeGreaterThan(Object.keys(surface).length);
    expect(names.length).toBeLessThanOrEqual(174);
  });

  it.each([
    [
      'bound-sessions',
      boundSessions,
      ['BoundTokenRefused', 'DeviceProofRefused', 'InvalidProof', 'ProofRefused', 'RequireBoundToken', 'UnprovedToken'],
    ],
    [
      'access-keys',
      accessKeys,
      [
        'AcceptsKeys',
        'AccessKey',
        'AccessKeyFlow',
        'BadScannerSignature',
        'KeyCreated',
        'KeyRevoked',
        'KeyUsedFromNewNetwork',
        'TooManyKeys',
      ],
    ],
    ['drizzle', drizzle, ['DrizzleUsers']],
    [
      'operators',
      operators,
      [
        'Actor',
        'ActorRefused',
        'AuditKey',
        'AuditLine',
        'HistoryFlow',
        'NotApplicable',
        'OPERATOR_ABILITIES',
        'OperatorActed',
        'OperatorFlow',
        'OperatorProtected',
        'RefuseActor',
        'SecurityEventDelivery',
        'SecurityEventRow',
        'Suspension',
        'UserNotFound',
        'actingAs',
      ],
    ],
    [
      'identities',
      identities,
      [
        'BadContinuation',
        'BadLogoutToken',
        'Identity',
        'IdentityFlow',
        'IdentityLinked',
        'IdentityNotFound',
        'IdentityNotLinked',
        'IdentityTaken',
        'IdentityUnlinked',
        'LastIdentity',
        'NoSuchProvider',
        'ProviderRefused',
        'ProviderUnavailable',
        'apple',
        'github',
        'gitlab',
        'google',
        'keycloak',
        'microsoft',
        'oidc',
      ],
    ],
    ['languages', languages, ['LANGUAGES', 'messageIn']],
    ['openapi', openapi, ['describeAuth']],
    ['prisma', prisma, ['PrismaUsers']],
    ['redis-cluster', cluster, ['RedisClusterStore', 'clusterStore']],
  ])('of @svc/auth/%s are exactly these names', (_, entry, names) => {
    expect(Object.keys(entry).toSorted()).toEqual(names);
  });
});
