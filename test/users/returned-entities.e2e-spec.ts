import {
  ClassSerializerInterceptor,
  Controller,
  Get,
  type NestInterceptor,
  Post,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import {
  EmailChange,
  EmailDelivery,
  KnownDevice,
  Passkey,
  PasswordHasher,
  PasswordResetToken,
  Session,
  TrustedDevice,
  authEntities,
} from '@svc/auth';
import { AccessKey } from '@svc/auth/access-keys';
import { AuditKey, AuditLine } from '@svc/auth/operators';
import { DataSource } from 'typeorm';
import { TestApp } from '../support/hosts/app';
import { storePasskey } from '../support/flows/passkeys';
import { PASSWORD, Person } from '../support/hosts/user-entities';

const ADA = 'ada@example.com';
const SECRETS = { twoFactorSecret: 'SECRET-OF-ADA', twoFactorRecoveryCodes: '["CODE-OF-ADA"]' };

const SHOWN = { id: 1, email: ADA, twoFactorConfirmedAt: null };

/** The columns of the library's entities that no response contains. */
const HIDDEN = new Map<object, string[]>([
  [Session, ['salt', 'scope']],
  [Passkey, ['publicKey']],
  [KnownDevice, ['deviceHash', 'linkHash']],
  [PasswordResetToken, ['emailHash', 'tokenHash', 'passwordFingerprint']],
  [EmailChange, ['confirmHash', 'undoHash', 'passwordFingerprint', 'unusableHash']],
  [TrustedDevice, ['tokenHash', 'binding']],
  [EmailDelivery, ['emailHash']],
  [AccessKey, ['secretMac']],
  [AuditLine, ['personal', 'seal']],
  [AuditKey, ['secret']],
]);

/** A controller whose routes return entities with every column in memory. */
function carelessRoutes(path: string, ...interceptors: Type<NestInterceptor>[]): Type {
  @Controller(path)
  @UseInterceptors(...interceptors)
  class CarelessRoutes {
    constructor(
      private readonly source: DataSource,
      private readonly hasher: PasswordHasher,
    ) {}

    @Post('users')
    async create() {
      const people = this.source.getRepository(Person);
      return people.save(people.create({ email: ADA, passwordHash: await this.hasher.hash(PASSWORD), ...SECRETS }));
    }

    @Get('users')
    list() {
      return this.complete(Person);
    }

    @Get('nested')
    async nested() {
      return { data: { orders: [{ item: 'tea', owner: (await this.complete(Person))[0] }] } };
    }

    @Get('entities')
    entities() {
      return Promise.all(authEntities.map((entity) => this.complete(entity)));
    }

    /** Every row with every column, including those that queries do not select. */
    private complete(entity: typeof Person | (typeof authEntities)[number]): Promise<object[]> {
      const columns = this.source.getMetadata(entity).columns.map(({ propertyName }) => `e.${propertyName}`);
      return this.source.getRepository<object>(entity).createQueryBuilder('e').addSelect(columns).getMany();
    }
  }
  return CarelessRoutes;
}

const ROUTES = [carelessRoutes('plain'), carelessRoutes('serialized', ClassSerializerInterceptor)];

describe.each([
  ['without', '/plain'],
  ['with', '/serialized'],
])('an entity that a host returns %s ClassSerializerInterceptor', (_, path) => {
  const t = TestApp.forFile({ controllers: ROUTES });

  const columnsOf = (entity: object): string[] =>
    t.database.getMetadata(entity as typeof Session).columns.map(({ propertyName }) => propertyName);

  it('shows no hash after it was saved, and the saved hash is complete', async () => {
    const { body } = await t.http.post(`${path}/users`).expect(201);
    expect(body).toEqual(SHOWN);
    expect(await t.database.query('SELECT two_factor_secret, two_factor_recovery_codes FROM people')).toEqual([
      { two_factor_secret: SECRETS.twoFactorSecret, two_factor_recovery_codes: SECRETS.twoFactorRecoveryCodes },
    ]);
    await t.login(ADA).expect(200);
  });

  it('shows no secret when every column was selected, alone or inside another object', async () => {
    await t.http.post(`${path}/users`).expect(201);
    expect((await t.get(`${path}/users`).expect(200)).body).toEqual([SHOWN]);
    expect((await t.get(`${path}/nested`).expect(200)).body).toEqual({
      data: { orders: [{ item: 'tea', owner: SHOWN }] },
    });
  });

  it('shows all columns of the entities of the library, except salts, keys and hashes', async () => {
    await t.http.post(`${path}/users`).expect(201);
    await t.login(ADA).expect(200);
    await storePasskey(t, 'credential', '1');
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', '1', 'HASH', 'HASH', now())");
    await t.database.query(
      `INSERT INTO svc_email_changes VALUES
       (gen_random_uuid(), 'api', '1', 's', 'a', true, 'b', 'requested', 'HASH', 'HASH', 'HASH', now(), now(), now(), now(), 'HASH')`,
    );
    await t.database.query(
      `INSERT INTO svc_known_devices
       VALUES (gen_random_uuid(), 'api', '1', 'HASH', gen_random_uuid(), null, now(), now(), 'HASH', null)`,
    );
    await t.database.query("INSERT INTO svc_lockouts VALUES ('1', 'login', 'id:1', 'api', 1, NULL, now(), now())");
    await t.database.query(
      "INSERT INTO svc_trusted_devices VALUES ('api', '1', gen_random_uuid(), 'HASH', 'HASH', null, now(), now())",
    );
    await t.database.query("INSERT INTO svc_email_deliveries VALUES (gen_random_uuid(), 'api', '1', 'HASH', now())");
    await t.database.query(
      "INSERT INTO svc_identities VALUES (gen_random_uuid(), 'api', '1', 'p', 'i', 's', null, now(), null)",
    );
    await t.database.query(
      "INSERT INTO svc_access_keys VALUES (gen_random_uuid(), 'api', '1', null, 'l', '', '', 'HASH', now(), null, null, '', null)",
    );
    await t.database.query(
      "INSERT INTO svc_audit VALUES (gen_random_uuid(), now(), 'api', '1', 'o', 'succeeded', null, 'user', null, null, null, 'HASH', repeat('01', 128)::bit(256))",
    );
    await t.database.query("INSERT INTO svc_device_keys VALUES (gen_random_uuid(), 'api', '1', '{}', now())");
    await t.database.query("INSERT INTO svc_suspensions VALUES ('api', '1', 'r', now(), NULL)");
    await t.database.query("INSERT INTO svc_audit_keys VALUES ('api', '1', 'HASH')");
    await t.database.query(
      `INSERT INTO svc_security_events (guard, user_id, receiver, claims, created_at, due_at)
       VALUES ('api', '1', 'r', '{}', now(), now())`,
    );

    const { body } = await t.get(`${path}/entities`).expect(200);
    const shown = (body as object[][]).map((rows) => rows.map((row) => Object.keys(row).toSorted()));
    const expected = authEntities.map((entity) => {
      const hidden = HIDDEN.get(entity) ?? [];
      expect(columnsOf(entity)).toEqual(expect.arrayContaining(hidden));
      return [
        columnsOf(entity)
          .filter((column) => !hidden.includes(column))
          .toSorted(),
      ];
    });
    expect(shown).toEqual(expected);
  });
});
