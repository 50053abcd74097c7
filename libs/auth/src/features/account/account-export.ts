import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../foundation/platform/clock';
import { MANIFESTS, type Feature } from '../../foundation/realm/feature';
import { type ExportedData, dataOf } from '../../foundation/realm/feature-data';
import { Realm, Realms } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** The data of an account in the library, for its owner. Times are ISO 8601 in UTC. */
export interface ExportedAccount extends ExportedData {
  generated_at: string;
  account: { id: string | number; identifier: string | null };
}

/** Exports the data of an account (`GET /account/export`). It reads no token, hash, secret or key. */
@Injectable()
export class AccountExport {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly realms: Realms,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(MANIFESTS) private readonly features: readonly Feature[],
  ) {}

  async export({ user, userId }: Caller): Promise<ExportedAccount> {
    const services = this.realms.get(this.realm.guard);
    const data: Record<string, unknown> = {};
    for (const { export: parts = {} } of dataOf(this.features))
      for (const [part, read] of Object.entries(parts)) data[part] = await read(services, userId);
    return {
      generated_at: new Date(this.clock.now()).toISOString(),
      account: { id: this.users.publicIdOf(user), identifier: this.users.identifierOf(user) },
      ...(data as unknown as ExportedData),
    };
  }
}
