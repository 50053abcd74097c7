import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthException } from '../../foundation/platform/errors';
import { overGraphql } from './transport-errors';

const ROOT = join(__dirname, '../../../../..');
const readText = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the code of a refusal over GraphQL', () => {
  it('is in docs/guards.md for each status that the library answers', () => {
    const answered = new Set(
      [...readText('docs/openapi.json').matchAll(/"([45]\d\d)":/g)].map(([, status]) => status!),
    );
    const codeOf = (status: string): unknown => {
      const refusal = overGraphql(new AuthException('a_refusal', { status: Number(status) }));
      return (refusal as unknown as { extensions: { code: unknown } }).extensions.code;
    };
    const page = [...readText('docs/guards.md').matchAll(/^\| +(\d{3}) \| `([A-Z_]+)`/gm)];
    const documented = Object.fromEntries(page.map(([, status, code]) => [status, code]));
    expect(documented).toEqual(Object.fromEntries([...answered, '500'].map((status) => [status, codeOf(status)])));
  });
});
