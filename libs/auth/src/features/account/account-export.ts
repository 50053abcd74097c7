import { Inject, Injectable } from '@nestjs/common';
import { Clock, Realm, Realms, data, identity, manifest } from '../../kit';

/** The data of an account in the library, for its owner. Times are ISO 8601 in UTC. */
export interface ExportedAccount extends data.ExportedData {
  generated_at: string;
  account: { id: string | number; identifier: string | null };
}

/** Exports the data of an account (`GET /account/export`). It reads no token, hash, secret or key. */
@Injectable()
export class AccountExport {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly realms: Realms,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(manifest.MANIFESTS) private readonly features: readonly manifest.Feature[],
  ) {}

  async export({ user, userId }: identity.Caller): Promise<ExportedAccount> {
    return {
      generated_at: new Date(this.clock.now()).toISOString(),
      account: { id: this.users.publicIdOf(user), identifier: this.users.identifierOf(user) },
      ...(await data.exportOf(this.features, this.realms.get(this.realm.guard), userId)),
    };
  }
}
