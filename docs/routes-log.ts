import { FEATURES } from '../libs/auth/src/features';
import { type MountedRoute } from '../libs/auth/src/request/gates/library-routes';
import { declarationOf, reasonsOf } from '../libs/auth/src/request/gates/request-log';

/** The section of the page of routes with the names that the security log uses: of operations, of events and of reasons. */
export function namesOfTheLog(
  routes: readonly MountedRoute[],
  pathOf: (route: MountedRoute) => string,
  table: (head: string[], rows: string[][]) => string,
): string {
  const operations = routes.map((route): [operation: string, path: string, success: string] => {
    const { operation, quiet } = declarationOf(route.handler)!;
    return [`\`${operation}\``, pathOf(route), quiet ? 'no' : 'yes'];
  });
  const events = FEATURES.flatMap(({ events: own = {} }) =>
    Object.entries(own).map(([name, { event }]) => [`\`${name}\``, `\`${event.name}\``]),
  );
  const reasons = [...reasonsOf(FEATURES)].map(([reason, meaning]) => [`\`${reason}\``, meaning]);
  const sorted = <Row extends string[]>(rows: Row[]): Row[] =>
    rows.toSorted(([a], [b]) => (a!.replaceAll('`', '') < b!.replaceAll('`', '') ? -1 : 1));
  return `## Names of the security log

[The security log](operations.md#the-security-log) and the [metrics](operations.md#traces-and-metrics) use these names, and no others.

### Operations

${table(['Operation', 'Route', 'Success is a line'], sorted(operations))}

### Events

Events that are not the outcome of one request:

${table(['Event', 'Written for the [event](events.md)'], sorted(events))}

### Reasons

${table(['Reason', 'Meaning'], sorted(reasons))}
`;
}
