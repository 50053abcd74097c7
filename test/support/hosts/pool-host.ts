import { Controller, type DynamicModule, Get, Injectable, Module } from '@nestjs/common';
import {
  AuthModule,
  type AuthModuleOptions,
  Authenticated,
  CurrentUser,
  type EmailReplacement,
  type NewAccount,
  type ReplacementResult,
  type StoredCredentials,
  type StoredSecondFactor,
  UserProvider,
} from '@svc/auth';
import { Pool } from 'pg';
import { ENCRYPTION_KEY, SECRET, UNLIMITED } from './host.module';

interface Customer {
  id: string;
  email: string;
  name: string;
}

/** The table of the users of {@link PoolHost}. */
export const CUSTOMERS = `CREATE TABLE customers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text NOT NULL UNIQUE,
  name text NOT NULL, password_hash text, secret text, codes text, confirmed_at timestamptz)`;

type Manager = Parameters<NonNullable<UserProvider['delete']>>[1];

/** Users in plain SQL. */
@Injectable()
class Customers extends UserProvider<Customer> {
  constructor(private readonly pool: Pool) {
    super();
  }

  private async one<Row>(where: string, value: string, columns = 'id::text, email, name'): Promise<Row | null> {
    if (typeof value !== 'string' || value.includes('\0')) return null;
    const { rows } = await this.pool.query(`SELECT ${columns} FROM customers WHERE ${where} = $1`, [value]);
    return (rows[0] as Row | undefined) ?? null;
  }

  findById(id: string) {
    return this.one<Customer>('id::text', id);
  }

  async findByIdentifier(identifier: string): Promise<StoredCredentials<Customer> | null> {
    const columns = 'id::text, email, name, password_hash';
    type Row = Customer & { password_hash: string | null };
    const found = await this.one<Row>('email', identifier.trim().toLowerCase(), columns);
    if (!found) return null;
    const { password_hash: passwordHash, ...user } = found;
    return { user, passwordHash };
  }

  async passwordHashOf(id: string) {
    return (await this.one<{ hash: string | null }>('id::text', id, 'password_hash AS hash'))?.hash ?? null;
  }

  async savePasswordHash(id: string, passwordHash: string, replacing?: string | null) {
    const { rowCount } = await this.pool.query(
      `UPDATE customers SET password_hash = $2 WHERE id::text = $1 AND ($3 OR password_hash IS NOT DISTINCT FROM $4)`,
      [id, passwordHash, replacing === undefined, replacing ?? null],
    );
    return rowCount === 1;
  }

  override secondFactorOf(id: string) {
    const columns = 'secret, codes AS "recoveryCodes", confirmed_at AS "confirmedAt"';
    return this.one<StoredSecondFactor>('id::text', id, columns);
  }

  override async replaceSecondFactor(id: string, current: StoredSecondFactor, next: StoredSecondFactor) {
    const { rowCount } = await this.pool.query(
      `UPDATE customers SET secret = $2, codes = $3, confirmed_at = $4 WHERE id::text = $1
          AND secret IS NOT DISTINCT FROM $5 AND codes IS NOT DISTINCT FROM $6 AND (confirmed_at IS NOT NULL) = $7`,
      [
        id,
        next.secret,
        next.recoveryCodes,
        next.confirmedAt,
        current.secret,
        current.recoveryCodes,
        !!current.confirmedAt,
      ],
    );
    return rowCount === 1;
  }

  override async create({ identifier, passwordHash, name }: NewAccount) {
    const { rows } = await this.pool.query<Customer>(
      `INSERT INTO customers (email, name, password_hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
       RETURNING id::text, email, name`,
      [identifier, name, passwordHash],
    );
    return rows[0] ?? null;
  }

  override async changeEmail(id: string, { from, to }: EmailReplacement, manager: Manager): Promise<ReplacementResult> {
    try {
      const statement = 'UPDATE customers SET email = $3 WHERE id::text = $1 AND email = $2';
      return (await manager.query(statement, [id, from, to]))[1] === 1 ? 'changed' : 'stale';
    } catch (error) {
      if ((error as { code?: unknown }).code === '23505') return 'taken';
      throw error;
    }
  }

  override async delete(id: string, manager: Manager) {
    return (await manager.query('DELETE FROM customers WHERE id::text = $1', [id]))[1] === 1;
  }

  override async existingIds(ids: readonly string[]) {
    const { rows } = await this.pool.query('SELECT id::text FROM customers WHERE id::text = ANY($1)', [
      ids.map((id) => id.replaceAll('\0', '')),
    ]);
    return new Set(rows.map(({ id }: { id: string }) => id));
  }

  idOf({ id }: Customer): string {
    return id;
  }

  override identifierOf({ email }: Customer): string {
    return email;
  }
}

@Controller('private')
@Authenticated()
class PrivateController {
  @Get()
  own(@CurrentUser() user: Customer) {
    return user;
  }
}

/** A host without TypeORM: its users are in plain SQL, and the library is on its pool. */
@Module({})
export class PoolHost {
  static on(pool: Pool, options: Partial<AuthModuleOptions> = {}): DynamicModule {
    return {
      module: PoolHost,
      imports: [
        AuthModule.forRoot({
          secret: SECRET,
          encryption: { key: ENCRYPTION_KEY },
          hashing: { memoryCost: 64, timeCost: 1 },
          rateLimits: UNLIMITED,
          retention: { schedule: false },
          users: { provider: { useFactory: () => new Customers(pool) } },
          pool,
          ...options,
        }),
      ],
      controllers: [PrivateController],
    };
  }
}
