import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, blocksOf, fileOf, hunksOf } from './blocks';

const PAGE = 'docs/recipes/from-prisma-graphql-starter.md';
const EXAMPLE = join(ROOT, 'examples/prisma-graphql');

/** SHA-256 of the files of the starter that the move changes in a part, as they were before it. */
const BEFORE: Readonly<Record<string, string>> = {
  '.env.example': 'a33d844cbdeeeb7e93921a80fe0e8dce61b1cb033daf6ffdc031ab1f6509752c',
  'prisma.config.ts': '9052e2e6e02bcc944acbfb2882d92c2b1d3bfef208f38165dcb72e6385de675f',
  'src/auth/dto/refresh-token.input.ts': '986aed6228567fe88ca309da879f69ac47761785e882058784189f279a1788fc',
  'src/auth/models/token.model.ts': 'db2f9c3a8c1895c1e79148d34f46725b92d238924c2912b229fd06f9db3a354d',
  'src/common/configs/config.interface.ts': '27c44886821c43ad762825167b64cca9e2cef88fe75cd162506e3e3f73c33b32',
  'src/common/prisma/prisma.service.ts': '1b0f3e9951429c1eaa0f9a8c84fc8845463f848b5bf435e590bda19822929b92',
  'src/posts/posts.resolver.ts': '34e5f3ad6991d60df3cb9330f9d5eb787337c8dbf07b4b00890e04a4b29de632',
  'src/users/models/user.model.ts': 'e200413fb143d5b8c995cd26ac71766a7027a7ece585755961ee6b73a42e4431',
  'src/users/users.module.ts': 'eadad6e7b8c32402a90f7cd4e653b2a9c0890d64e0ce33ee2b6d68163d683d21',
  'src/users/users.resolver.ts': '1b99874b07d91d7711c77ec5b9982ccd640de39234a5324104efd8f6764033ed',
  'src/users/users.service.ts': '8d0a54f39394ae6555b4bc82dc0ae826c0800546ed03af17ac6a8779cc240678',
  'test/app.e2e-spec.ts': '06ef5c38fe8c4a56452711d2cb87beb472644367d47ce21c9f6f3357ba612bc2',
};

/** Files that the move replaces or adds. The page shows each of them whole, or links to it in the example. */
const WHOLE = [
  'prisma/migrate-auth.ts',
  'src/auth/auth.module.ts',
  'src/auth/auth.resolver.ts',
  'src/auth/prisma-users.ts',
  'src/auth/signup.ts',
  'src/common/scalars/token.scalar.ts',
  'test/users.e2e-spec.ts',
];

/** Files of the starter that the move removes. */
const REMOVED = [
  'src/auth/auth.service.ts',
  'src/auth/password.service.ts',
  'src/auth/jwt.strategy.ts',
  'src/auth/gql-auth.guard.ts',
  'src/auth/dto/jwt.dto.ts',
  'src/common/decorators/user.decorator.ts',
];

const textOf = (file: string): string => readFileSync(join(EXAMPLE, file), 'utf8');
const blocks = blocksOf(PAGE);
const changes = blocks.filter(({ language }) => language === 'diff').map((block) => hunksOf(block));

describe('the page of a moved application', () => {
  it.each(Object.entries(BEFORE))('has all changes of %s', (file, hash) => {
    let text = textOf(file);
    for (const { before, after } of changes.filter((change) => change.file === file).flatMap(({ hunks }) => hunks)) {
      expect(text.split(after)).toHaveLength(2);
      text = text.replace(after, () => before);
    }
    // Without its changes, the file is that of the starter.
    expect({ sha256: createHash('sha256').update(text).digest('hex'), text }).toEqual({ sha256: hash, text });
  });

  it.each(WHOLE)('shows %s, or links to it', (file) => {
    const shown = blocks.find((block) => fileOf(block) === file)?.text;
    if (shown) expect(shown.slice(shown.indexOf('\n') + 1)).toBe(textOf(file));
    else expect(readFileSync(join(ROOT, PAGE), 'utf8')).toContain(`(../../examples/prisma-graphql/${file})`);
  });

  it.each(REMOVED)('names %s, which is removed', (file) => {
    expect(readFileSync(join(ROOT, PAGE), 'utf8')).toContain(file);
    expect(existsSync(join(EXAMPLE, file))).toBe(false);
  });

  it('leaves out no file that uses the library, and names the file of each change', () => {
    const files = readdirSync(EXAMPLE, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !/^(node_modules|dist)|generated/.test(file),
    );
    const unnamed = files.filter((file) => textOf(file).includes("'@svc/auth") && !WHOLE.includes(file));
    expect(unnamed.filter((file) => !(file in BEFORE))).toEqual([]);
    const changed = changes.map(({ file }) => file);
    expect(changed.filter((file) => file !== 'package.json').toSorted()).toEqual(Object.keys(BEFORE).toSorted());
  });
});
