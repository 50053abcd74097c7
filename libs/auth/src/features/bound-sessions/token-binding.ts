import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { Realm, event, identity } from '../../kit';
import { challenge, InvalidProof, ProofRefused, UnprovedToken } from './bound-sessions.errors';
import { reportTheft } from './bound-sessions.events';
import { isHolderOf, isTheft, tokenRefusal } from './proof.policy';
import { Proofs } from './proofs';

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

interface TokenOwner {
  readonly userId: string;
  readonly familyId: string | null;
}

/** Decides on the tokens and the sessions of one guard by what their senders prove. */
@Injectable()
export class BoundSessions {
  constructor(
    private readonly proofs: Proofs,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** See `TokenBinding.verify`. */
  async verify(
    request: identity.Credentialed,
    { scheme, token }: identity.Credential,
    claims: identity.AccessClaims,
  ): Promise<void> {
    const { mode } = this.realm.options.boundSessions;
    const jkt = claims.cnf?.jkt ?? null;
    const isProved = jkt !== null && scheme === 'dpop';
    const ath = isProved ? hashOf(token) : '';
    const proof = isProved ? await this.proofs.of(request, { jkt, ath }) : null;
    const owner = { userId: claims.sub, familyId: claims.fid ?? null };
    if (proof?.fault) {
      if (isTheft(proof, jkt)) this.report(request, 'access', owner);
      throw new ProofRefused(proof.fault, this.proofs.nonce()).withReason('invalid_proof', claims.sub);
    }
    const refusal = tokenRefusal({ scheme, jkt, ath, proof, mode });
    if (refusal === null) return;
    if (refusal !== 'unbound') this.report(request, 'access', owner);
    if (refusal === 'other_token')
      throw new ProofRefused('ath', this.proofs.nonce()).withReason('invalid_proof', claims.sub);
    const reason = refusal === 'other_key' ? 'foreign_key' : 'missing_proof';
    throw new UnprovedToken(this.proofs.nonce()).withReason(reason, claims.sub);
  }

  /** See `TokenBinding.keyOf`. */
  async keyOf(request: object | undefined): Promise<string | null> {
    const proof = request === undefined ? null : await this.proofs.of(request);
    if (proof?.fault) throw new InvalidProof(proof.fault, this.proofs.nonce()).withReason('invalid_proof');
    if (proof === null && this.realm.options.boundSessions.mode === 'require')
      throw new InvalidProof(null, this.proofs.nonce()).withReason('missing_proof');
    return proof?.jkt ?? null;
  }

  /** See `TokenBinding.isHolder`. */
  async isHolder(request: object, { userId, familyId, jkt }: identity.HeldSession): Promise<boolean> {
    const proof = await this.proofs.of(request, jkt === null ? undefined : { jkt });
    if (proof?.fault) {
      if (isTheft(proof, jkt)) this.report(request, 'refresh', { userId, familyId });
      throw new InvalidProof(proof.fault, this.proofs.nonce()).withReason('invalid_proof', userId);
    }
    if (isHolderOf(jkt, proof?.jkt ?? null, this.realm.options.boundSessions.mode)) return true;
    if (jkt !== null) this.report(request, 'refresh', { userId, familyId });
    return false;
  }

  private report(request: object, token: 'access' | 'refresh', owner: TokenOwner): void {
    reportTheft(this.events, request, { guard: this.realm.guard, token, ...owner });
  }
}

/** Binds sessions and their access tokens to keys that clients prove (RFC 9449). */
export const DPOP: identity.TokenBinding = {
  tokenType: 'DPoP',
  member: 'jkt',
  challenge,
  refusals: [InvalidProof],
  verify: (services, ...presented) => services.get(BoundSessions).verify(...presented),
  keyOf: (services, request) => services.get(BoundSessions).keyOf(request),
  isHolder: (services, request, session) => services.get(BoundSessions).isHolder(request, session),
};
