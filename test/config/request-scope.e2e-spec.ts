import {
  type DynamicModule,
  Global,
  Inject,
  Injectable,
  Module,
  type Provider,
  Scope,
  type Type,
} from '@nestjs/common';
import { NestFactory, REQUEST } from '@nestjs/core';
import { TypeOrmModule, getDataSourceToken } from '@nestjs/typeorm';
import { AuthModule, type AuthModuleOptions, Presenter, authEntities } from '@svc/auth';
import { Pool } from 'pg';
import { createDatabase } from '../support/stores/database';
import { SECRET, hostOptions } from '../support/hosts/host.module';
import { IdentifierProvider } from '../support/hosts/incomplete-users';
import { Operator, Person } from '../support/hosts/user-entities';

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => (database = await createDatabase()));
afterAll(() => database.drop());

const ENTITIES = [...authEntities, Person, Operator];

/** The tenant of a request, as hosts write it. */
@Injectable({ scope: Scope.REQUEST })
class TenantConnection {}

@Injectable()
class TenantRepository {
  constructor(@Inject(TenantConnection) readonly connection: TenantConnection) {}
}

@Injectable()
class UsersOfTenant extends IdentifierProvider {
  constructor(@Inject(TenantRepository) readonly repository: TenantRepository) {
    super();
  }
}

@Injectable({ scope: Scope.REQUEST })
class UsersOfRequest extends IdentifierProvider {}

@Injectable({ scope: Scope.TRANSIENT })
class TransientUsers extends IdentifierProvider {}

@Injectable()
class UsersWithRequest extends IdentifierProvider {
  @Inject(REQUEST) readonly request!: object;
}

@Injectable()
class PresenterOfTenant extends Presenter {
  constructor(@Inject(TenantRepository) readonly repository: TenantRepository) {
    super();
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientPresenter extends Presenter {}

const PROVIDERS: Provider[] = [TenantConnection, TenantRepository, UsersOfTenant, UsersOfRequest, PresenterOfTenant];

@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
class TenantModule {}

const orm = (): DynamicModule =>
  TypeOrmModule.forRoot({ type: 'postgres', url: database.url, entities: ENTITIES, retryAttempts: 0 });

/** A data source of the host that depends on the request. */
@Global()
@Module({
  providers: [
    TenantConnection,
    { provide: getDataSourceToken('tenants'), inject: [TenantConnection], useFactory: () => ({}) },
  ],
  exports: [getDataSourceToken('tenants')],
})
class TenantSourceModule {}

async function errorOf(auth: DynamicModule, imports: (Type | DynamicModule)[] = [orm()], hasServer = true) {
  const module = { module: class Host {}, imports: [TenantModule, ...imports, auth] };
  const settings = { logger: false, abortOnError: false } as const;
  const app = await (
    hasServer ? NestFactory.create(module, settings) : NestFactory.createApplicationContext(module, settings)
  )
    .then((made) => made.init().finally(() => made.close()))
    .catch((error: Error) => error);
  return app instanceof Error ? app : new Error('it starts');
}

const sync = (given: Partial<AuthModuleOptions>) => () => AuthModule.forRoot(hostOptions({ ...given }));
const users = (provider: NonNullable<AuthModuleOptions['users']>['provider']) =>
  sync({ users: { provider }, features: { accountDeletion: false } });

describe('a provider of the host that Nest makes for each request is refused at the start, with its name and the cure:', () => {
  // prettier-ignore
  const refused: [string, () => DynamicModule, string[]][] = [
    ['a user provider', users(UsersOfRequest), ['users.provider', 'UsersOfRequest']],
    ['a user provider with a dependency', users(UsersOfTenant), ['users.provider', 'UsersOfTenant → TenantRepository → TenantConnection']],
    ['a user provider that injects the request', users(UsersWithRequest), ['users.provider', 'UsersWithRequest → REQUEST']],
    ['an existing user provider', users({ useExisting: UsersOfTenant }), ['users.provider', 'UsersOfTenant → TenantRepository → TenantConnection']],
    ['a factory of a user provider', users({ useFactory: () => new IdentifierProvider(), inject: [TenantRepository] }), ['users.provider', 'TenantRepository → TenantConnection']],
    ['a user provider of an extra guard', sync({ guards: { admin: { path: 'admin', secret: `${SECRET}-2`, audience: 'https://admin.example.com', users: { provider: UsersOfTenant } } } }), ['users.provider (RealmModule(admin))', 'UsersOfTenant → TenantRepository']],
    ['a presenter', sync({ presenter: PresenterOfTenant }), ['presenter', 'PresenterOfTenant → TenantRepository → TenantConnection']],
    ['an existing presenter', sync({ presenter: { useExisting: PresenterOfTenant } }), ['presenter', 'PresenterOfTenant → TenantRepository → TenantConnection']],
    ['a factory of the options', () => AuthModule.forRootAsync({ users: { entity: Person }, inject: [TenantRepository], useFactory: () => ({ secret: SECRET }) }), ['AuthModule.forRootAsync', 'TenantRepository → TenantConnection']],
    ['a transient user provider', users(TransientUsers), ['users.provider', 'TransientUsers']],
    ['a transient presenter', sync({ presenter: TransientPresenter }), ['presenter', 'TransientPresenter']],
  ];

  it.each(refused)('%s', async (_, auth, texts) => {
    const error = await errorOf(auth());
    expect(error.name).toBe('AuthConfigError');
    for (const text of texts) expect(error.message).toContain(text);
    expect(error.message).toContain('AsyncLocalStorage');
  });

  it('a pool', async () => {
    const pool = { inject: [TenantRepository], useFactory: () => new Pool({ connectionString: database.url }) };
    const error = await errorOf(AuthModule.forRoot({ ...hostOptions({}), pool }), []);
    expect(error.name).toBe('AuthConfigError');
    expect(error.message).toContain('The option pool');
    expect(error.message).toContain('TenantRepository → TenantConnection');
  });

  it('a data source', async () => {
    const auth = AuthModule.forRoot({ ...hostOptions({}), dataSource: 'tenants' });
    const error = await errorOf(auth, [orm(), TenantSourceModule]);
    expect(error.name).toBe('AuthConfigError');
    expect(error.message).toContain('The data source');
    expect(error.message).toContain('TenantConnection');
  });

  it('also in an application without an HTTP server, such as that of the console', async () => {
    const error = await errorOf(users(UsersOfTenant)(), undefined, false);
    expect(error.name).toBe('AuthConfigError');
    expect(error.message).toContain('UsersOfTenant → TenantRepository → TenantConnection');
  });
});
