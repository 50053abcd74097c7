import type { Recorded } from './apps/counting';

/** Statements of the same requests, turned into what pgbench runs. */
export interface Script {
  /** What one transaction runs. */
  text: string;
  /** Values that are each chain's own when it begins, by variable. */
  starts: Record<string, string>[];
}

/** One request of one chain: its statements with their parameters and answers. */
type Request = Recorded[];

const HEX = /^[0-9a-f]{64}$/;

/** Where a parameter comes from. */
type Source =
  /** The same for everyone. */
  | { is: 'constant'; value: string | null }
  /** A column of an earlier answer of the same request. */
  | { is: 'answer'; statement: number; column: string }
  /** The chain's own, and the same at each of its requests. */
  | { is: 'own'; name: string; of(chain: Request[]): string }
  /** What the request before it made up: a token that was issued, and is presented now. */
  | { is: 'previous'; made: string; of(chain: Request[]): string }
  /** Made up anew. */
  | { is: 'fresh'; name: string };

/**
 * Finds out where each parameter of the recorded statements comes from, by what holds in every recording, and writes
 * the script that runs the same statements with parameters of the same origin.
 *
 * @param chains some chains of two requests each that follow one another
 * @throws when the requests sent different statements, or a parameter is of no origin that pgbench can imitate
 */
export function scriptOf(chains: Request[][]): Script {
  const [first] = chains[0]!;
  const requests = chains.flat();
  const texts = requests.map((request) => request.map(({ text }) => text).join(';\n'));
  if (new Set(texts).size !== 1)
    throw new Error(`refreshes send different statements:\n${[...new Set(texts)].join('\n\n')}`);

  const sources = first!.map(({ values }, statement) =>
    values.map((_, parameter) => sourceOf(chains, statement, parameter)),
  );
  const all = sources.flat();
  const asked = (statement: number): boolean =>
    all.some((source) => source.is === 'answer' && source.statement === statement);
  const statements = first!.map(({ text }, i) => {
    const bound = text.replaceAll(/\$(\d+)/g, (_, number: string) => expressionOf(sources[i]![Number(number) - 1]!));
    return `${bound.trim()}${asked(i) ? ` \\gset a${i}_` : ';'}`;
  });
  const fresh = [...new Set(all.flatMap((source) => (source.is === 'fresh' ? [source.name] : [])))];
  const previous = [...new Set(all.flatMap((source) => (source.is === 'previous' ? [source.made] : [])))];
  const own = all.flatMap((source) => (source.is === 'own' || source.is === 'previous' ? [source] : []));
  return {
    text: [
      ...fresh.map((name) => `\\set ${name} random(1, 9000000000000000000)`),
      ...statements,
      ...previous.map((made) => `\\set previous_${made} :${made}`),
      '',
    ].join('\n'),
    starts: chains.map((chain) =>
      Object.fromEntries(
        own.map((source) => [source.is === 'own' ? source.name : `previous_${source.made}`, source.of(chain)]),
      ),
    ),
  };
}

function sourceOf(chains: Request[][], statement: number, parameter: number): Source {
  const value = (request: Request, s = statement, p = parameter): string | null => request[s]!.values[p]!;
  const requests = chains.flat();
  const always = (holds: (request: Request) => boolean): boolean => requests.every(holds);
  const [example] = requests;

  if (always((request) => value(request) === value(example!))) return { is: 'constant', value: value(example!) };
  for (let earlier = 0; earlier < statement; earlier++)
    for (const column of Object.keys(example![earlier]!.rows[0] ?? {}))
      if (
        always(
          (request) => request[earlier]!.rows.length === 1 && request[earlier]!.rows[0]![column] === value(request),
        )
      )
        return { is: 'answer', statement: earlier, column };
  // The first place where the same is used: all of them share its variable.
  for (let s = 0; s <= statement; s++)
    for (let p = 0; p < example![s]!.values.length; p++)
      if ((s < statement || p < parameter) && always((request) => value(request, s, p) === value(request)))
        return sourceOf(chains, s, p);
  for (let s = 0; s < example!.length; s++)
    for (let p = 0; p < example![s]!.values.length; p++)
      if (chains.every(([one, next]) => value(one!, s, p) === value(next!)))
        if (chains.every(([one, next]) => value(one!) !== value(next!))) {
          const made = sourceOf(chains, s, p);
          if (made.is === 'fresh')
            return { is: 'previous', made: made.name, of: (chain) => value(chain.at(-1)!, s, p)! };
        }
  if (chains.every(([one, next]) => value(one!) === value(next!)))
    return { is: 'own', name: `own_${statement}_${parameter}`, of: (chain) => value(chain[0]!)! };
  if (always((request) => HEX.test(value(request) ?? '')))
    return { is: 'fresh', name: `fresh_${statement}_${parameter}` };
  throw new Error(`pgbench cannot make up parameter ${parameter + 1} of: ${example![statement]!.text}`);
}

function expressionOf(source: Source): string {
  switch (source.is) {
    case 'constant':
      return source.value === null ? 'NULL' : `'${source.value.replaceAll("'", "''")}'`;
    case 'answer':
      return `:a${source.statement}_${source.column}`;
    case 'own':
      return `:${source.name}`;
    // pgbench makes up numbers: as long as a hash, so that rows and index entries weigh the same.
    case 'previous':
      return `lpad(:previous_${source.made}, 64, '0')`;
    case 'fresh':
      return `lpad(:${source.name}, 64, '0')`;
  }
}
