import type { Recorded } from '../apps/counting';
import { type Chain, type Origin, type Place, type Sent, originOf, partAt, placesOf } from './origin';
import { parameterOf } from './parameters';

/** The recorded statements as a script for pgbench. */
export interface Script {
  /** The statements of one transaction. */
  text: string;
  /** The values of each session, by variable. */
  own: Record<string, string>[];
}

/**
 * Writes the script that runs the recorded statements with parameters of the same sources.
 *
 * @param recorded some chains of two consecutive requests
 * @throws if the requests sent different statements, or a parameter cannot be imitated
 */
export function scriptOf(recorded: (readonly [Recorded[], Recorded[]])[]): Script {
  const chains = recorded.map(([one, next]): Chain => [sent(one), sent(next)]);
  const requests = chains.flat();
  const shapes = new Set(requests.map(shapeOf));
  if (shapes.size !== 1) throw new Error(`the requests send different statements:\n${[...shapes].join('\n\n')}`);

  const [example] = requests;
  const origins = new Map(placesOf(example!).map((place) => [key(place), originOf(chains, place)]));
  const of = (place: Place): Origin => origins.get(key(place))!;
  const every = [...origins.values()];
  const statements = example!.map((statement, i) => {
    const bound = statement.text.replaceAll(/\$(\d+)/g, (_, number: string) =>
      bind(statement, i, Number(number) - 1, of),
    );
    return every.some((origin) => origin.is === 'answer' && origin.statement === i)
      ? `${bound} \\gset a${i}_`
      : `${bound};`;
  });
  const own = every.flatMap((origin) => (origin.is === 'own' ? [origin.place] : []));
  return {
    text: [...statements, ''].join('\n'),
    own: chains.map(([one]) => Object.fromEntries(own.map((place) => [`own${key(place)}`, partAt(one, place)!]))),
  };
}

const sent = (request: Recorded[]): Sent[] =>
  request.map(({ text, values, rows }) => ({ text: text.trim(), rows, parameters: values.map(parameterOf) }));

const shapeOf = (request: Sent[]): string =>
  request
    .map(({ text, parameters }) => [text, ...parameters.map(({ kind, parts }) => `${kind} ${parts.length}`)].join('\n'))
    .join(';\n');

const key = (place: Place): string => place.map((step) => `_${step}`).join('');

/** The expression that replaces a parameter. */
function bind(statement: Sent, index: number, parameter: number, of: (place: Place) => Origin): string {
  const { kind, around, parts } = statement.parameters[parameter]!;
  const origins = parts.map((_, part) => of([index, parameter, part]));
  if (kind === 'plain') return expressionOf(origins[0]!);
  const [first, ...rest] = around;
  const pieces = origins.flatMap((origin, i) => [`(${expressionOf(origin)})::text`, quoted(rest[i]!)]);
  return `(${[quoted(first!), ...pieces].join(' || ')})`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function expressionOf(origin: Origin): string {
  switch (origin.is) {
    case 'constant':
      return origin.value === null ? 'NULL' : quoted(origin.value);
    case 'answer': {
      const variable = `:a${origin.statement}_${origin.column}`;
      return origin.plus === undefined ? variable : `${variable}::float8 + ${origin.plus}`;
    }
    case 'own':
      return `:own${key(origin.place)}`;
  }
}
