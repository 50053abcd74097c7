import { type TokenSource, callerIn } from '../tokens/token-source';

/**
 * Whether the verified token of a request covers an ability: the same answer that `@Abilities` gives. False
 * without a request and without a verified token. Of several guards' callers, the last one speaks.
 *
 * @example if (tokenCan(request, 'orders.export')) { … }
 * @publicApi
 */
export const tokenCan = (from: TokenSource, ability: string): boolean => callerIn(from)?.grant.covers(ability) ?? false;
