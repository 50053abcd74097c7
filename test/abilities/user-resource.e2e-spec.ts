import {
  ClassSerializerInterceptor,
  Controller,
  Get,
  type INestApplication,
  Param,
  Post,
  Req,
  SerializeOptions,
  UseInterceptors,
} from '@nestjs/common';
import {
  Auth,
  AuthModule,
  type AuthModuleOptions,
  Authenticated,
  type Caller,
  CurrentCaller,
  CurrentUser,
  RequireVerifiedEmail,
  UserResource,
  authEntities,
  withAuthColumns,
} from '@svc/auth';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Exclude } from 'class-transformer';
import agent from 'supertest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startHost } from '../support/hosts/adapter';
import { claimsOf } from '../support/hosts/app';
import { createDatabase } from '../support/stores/database';
import { SECRET, UNLIMITED } from '../support/hosts/host.module';
import { Operator } from '../support/hosts/user-entities';

@Entity('people')
class Customer extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;
}

/** An object of the host with a field that only its decorator hides. */
class Address {
  street = 'Main Street';

  @Exclude()
  note = 'of the host';
}

/** A user with the hash in memory, as after it was saved. */
const savedUser = (): Customer =>
  Object.assign(new Customer(), { id: 2, email: 'bob@x', passwordHash: 'HASH', emailVerifiedAt: null });

@Controller('serialized')
@UseInterceptors(ClassSerializerInterceptor)
@Authenticated()
class SerializedRoutes {
  constructor(private readonly auth: Auth) {}

  @Get('fields')
  fields(@CurrentCaller() caller: Caller): UserResource {
    const since = new Date(0);
    return this.auth.userResource(caller.user, caller, { friends: [savedUser()], address: new Address(), since });
  }

  @Get('exposed')
  @SerializeOptions({ strategy: 'excludeAll' })
  exposed(@CurrentCaller() caller: Caller): UserResource {
    return this.auth.userResource(caller.user, caller, { name: 'Ada' });
  }

  @Get('typed')
  @SerializeOptions({ type: UserResource })
  typed(@CurrentCaller() caller: Caller): UserResource {
    return this.auth.userResource(caller.user, caller, { name: 'Ada' });
  }
}

@Controller()
class Routes {
  constructor(
    private readonly auth: Auth,
    private readonly source: DataSource,
  ) {}

  @Get('user')
  @Authenticated()
  own(@CurrentUser() user: Customer, @Req() request: object) {
    return this.auth.userResource(user, request, { email: user.email });
  }

  @Get('user/caller')
  @Authenticated()
  byCaller(@CurrentUser() user: Customer, @CurrentCaller() caller: Caller) {
    return this.auth.userResource(user, caller, {
      id: 'forged',
      email_verified: true,
      abilities: ['*'],
      token_pinned: false,
    });
  }

  @Get('user/entity')
  @Authenticated()
  byEntity(@CurrentCaller() caller: Caller) {
    return this.auth.userResource(caller.user, caller, savedUser());
  }

  @Get('users/:id')
  @Authenticated()
  async other(@Param('id') id: string, @Req() request: object) {
    const user = await this.source.getRepository(Customer).findOneByOrFail({ id: Number(id) });
    return this.auth.userResource(user, request);
  }

  @Get('staff/users/:id')
  @Authenticated('admin')
  async seenByStaff(@Param('id') id: string, @Req() request: object) {
    const user = await this.source.getRepository(Customer).findOneByOrFail({ id: Number(id) });
    return {
      customer: this.auth.userResource(user, request),
      self: this.auth.guard('admin').userResource(user, request),
    };
  }

  @Get('staff/me')
  @Authenticated('admin')
  staff(@CurrentUser() user: Operator, @Req() request: object) {
    return this.auth.guard('admin').userResource(user, request);
  }

  @Post('verified')
  @RequireVerifiedEmail()
  verified() {
    return {};
  }
}

describe('a host with abilities and verified emails', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let app: INestApplication;

  function startWith(options: Partial<AuthModuleOptions>): void {
    beforeAll(async () => (app = await start(options)));
    afterAll(() => app.close());
  }
  const start = (options: Partial<AuthModuleOptions>): Promise<INestApplication> =>
    startHost({
      module: class Host {},
      imports: [
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: database.url,
          entities: [...authEntities, Customer, Operator],
          installExtensions: false,
          retryAttempts: 0,
        }),
        AuthModule.forRoot({
          secret: SECRET,
          users: { entity: Customer },
          rateLimits: UNLIMITED,
          guards: {
            admin: { path: 'admin/auth', audience: 'https://admin.example.com', users: { entity: Operator } },
          },
          ...options,
        }),
      ],
      controllers: [Routes, SerializedRoutes],
    });
  const get = async (path: string, token: string) =>
    (await agent(app.getHttpServer()).get(path).set('Authorization', `Bearer ${token}`).expect(200)).body;
  const session = async (userId: number, abilities?: string[], guard = 'api'): Promise<string> =>
    (await app.get(Auth).guard(guard).startSession(userId, {}, abilities)).accessToken;

  beforeAll(async () => {
    database = await createDatabase();
    const source = await new DataSource({ type: 'postgres', url: database.url, installExtensions: false }).initialize();
    await source.query("INSERT INTO people (email, email_verified_at) VALUES ('ada@x', now()), ('bob@x', NULL)");
    await source.query("INSERT INTO operators (email) VALUES ('root@x')");
    await source.destroy();
  });
  afterAll(() => database.drop());

  describe('with derived abilities', () => {
    let derived: string[] = [];
    startWith({ hooks: { abilities: () => derived } });

    it('shows a numeric id as a number, which the token contains as a string', async () => {
      const token = await session(1);
      expect((await get('/user', token)).data.id).toBe(1);
      expect(claimsOf(token).sub).toBe('1');
    });

    it('shows a user to their own token with the abilities of the token, or an empty list', async () => {
      expect(await get('/user', await session(1))).toEqual({
        data: { id: 1, email_verified: true, abilities: [], token_pinned: false, email: 'ada@x' },
      });
      derived = ['b', 'a.*'];
      expect(await get('/user', await session(2))).toEqual({
        data: { id: 2, email_verified: false, abilities: ['b', 'a.*'], token_pinned: false, email: 'bob@x' },
      });
      expect((await get('/user', await session(1, []))).data).toMatchObject({ abilities: [], token_pinned: true });
      expect((await get('/user', await session(1, ['x']))).data).toMatchObject({
        abilities: ['x'],
        token_pinned: true,
      });
    });
  });

  describe('without derived abilities', () => {
    startWith({});

    it('shows no abilities, except to a token that has some', async () => {
      expect(await get('/user', await session(1))).toEqual({ data: { id: 1, email_verified: true, email: 'ada@x' } });
      expect((await get('/user', await session(1, []))).data).toMatchObject({ abilities: [], token_pinned: true });
      expect((await get('/user', await session(1, ['x']))).data).toMatchObject({
        abilities: ['x'],
        token_pinned: true,
      });
    });

    it('shows of an entity that is passed as the fields what the entity shows in JSON', async () => {
      expect(await get('/user/entity', await session(1))).toEqual({
        data: { id: 1, email_verified: true, email: 'bob@x', emailVerifiedAt: null },
      });
    });

    describe('with ClassSerializerInterceptor', () => {
      const OWN = { id: 1, email_verified: true, abilities: ['x'], token_pinned: true };

      it('applies the decorators of the objects among the fields of the host', async () => {
        expect(await get('/serialized/fields', await session(1, ['x']))).toEqual({
          data: {
            ...OWN,
            friends: [{ id: 2, email: 'bob@x', emailVerifiedAt: null }],
            address: { street: 'Main Street' },
            since: new Date(0).toISOString(),
          },
        });
      });

      it('keeps the fields of the library when only exposed fields are shown', async () => {
        expect(await get('/serialized/exposed', await session(1, ['x']))).toEqual({ data: OWN });
        expect(await get('/serialized/exposed', await session(1))).toEqual({ data: { id: 1, email_verified: true } });
      });

      it('can be named as the type of the response', async () => {
        expect(await get('/serialized/typed', await session(1, ['x']))).toEqual({ data: { ...OWN, name: 'Ada' } });
      });
    });

    it('ignores an abilities field of the host, even if the token has no abilities', async () => {
      expect(await get('/user/caller', await session(2))).toEqual({ data: { id: 2, email_verified: false } });
    });

    it('accepts users who are verified in the current row', async () => {
      const post = (path: string, token: string) =>
        agent(app.getHttpServer()).post(path).set('Authorization', `Bearer ${token}`);
      const bob = await session(2);
      await agent(app.getHttpServer()).post('/verified').expect(401);
      await post('/verified', await session(1)).expect(201);
      const { body } = await post('/verified', bob).expect(409);
      expect(body).toMatchObject({ message: 'Confirm your email address first.' });
      await app.get(DataSource).query("UPDATE people SET email_verified_at = now() WHERE email = 'bob@x'");
      await post('/verified', bob).expect(201);
      await app.get(DataSource).query("UPDATE people SET email_verified_at = NULL WHERE email = 'bob@x'");
      await post('/verified', bob).expect(409);
    });
  });

  describe('with features.abilities on', () => {
    startWith({ features: { abilities: true } });

    it('does not let the host replace reserved fields', async () => {
      expect(await get('/user/caller', await session(2))).toEqual({
        data: { id: 2, email_verified: false, abilities: [], token_pinned: false },
      });
    });

    it('shows other users without abilities, and also the same id of another guard', async () => {
      expect(await get('/users/2', await session(1, ['x']))).toEqual({ data: { id: 2, email_verified: false } });
      const staff = await session(1, ['x'], 'admin');
      const shown = { data: { id: 1, email_verified: true } };
      expect((await get('/staff/users/1', staff)).customer).toEqual(shown);
      expect((await get('/staff/users/1', staff)).self.data).not.toHaveProperty('abilities');
      expect(await get('/staff/me', staff)).toEqual({
        data: { id: 1, email_verified: null, abilities: ['x'], token_pinned: true },
      });
    });
  });
});
