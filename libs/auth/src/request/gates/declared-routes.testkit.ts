import { FEATURES } from '../../features';
import { loadMembers } from '../../foundation/realm/feature';
import type { RouteDeclaration } from '../../foundation/realm/route';
import { segmentsWithRoutesBelow, statedRoutes } from './library-routes';
import { declarationOf, reasonsOf } from './request-log';

loadMembers(FEATURES, () => true);

/** A route of a manifest, mounted or not. */
export interface DeclaredRoute extends RouteDeclaration {
  readonly method: string;
  /** Relative to the path of the guard. */
  readonly path: string;
}

/** The declarations of the controllers of all manifests. */
export const declaredRoutes = (): DeclaredRoute[] =>
  statedRoutes(FEATURES).map(({ handler, method, path }) => ({ ...declarationOf(handler)!, method, path }));

/** The reasons of all manifests, each with its meaning. */
export const statedReasons = (): ReadonlyMap<string, string> => reasonsOf(FEATURES);

/** The segments with routes below them, of all manifests. */
export const declaredSegments = (): string[] => segmentsWithRoutesBelow(FEATURES);
