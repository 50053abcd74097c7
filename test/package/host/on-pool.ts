// A host application without TypeORM, compiled and run in the folder in which the package is installed. Without an argument it
// serves HTTP; with arguments it is the console.
import 'reflect-metadata';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Auth,
  AuthModule,
  Authenticated,
  CurrentUser,
  type NewAccount,
  type StoredCredentials,
  UserProvider,
} from '@svc/auth';
import { AuthConsoleModule } from '@svc/auth/console';
import { Pool } from 'pg';

interface Customer {
  id: string;
  email: string;
}

type Row = Customer & { password_hash: string | null };

const pool = new Pool({ connectionString: process.env.DATABASE_URL });

@Injectable()
class Customers extends UserProvider<Customer> {
  private async one(column: 'id' | 'email', value: string): Promise<Row | null> {
    const statement = `SELECT id::text, email, password_hash FROM customers WHERE ${column}::text = $1`;
    return (await pool.query<Row>(statement, [value])).rows[0] ?? null;
  }

  findById(id: string) {
    return this.one('id', id);
  }

  async findByIdentifier(email: string): Promise<StoredCredentials<Customer> | null> {
    const found = await this.one('email', email);
    return found && { user: { id: found.id, email }, passwordHash: found.password_hash };
  }

  async passwordHashOf(id: string) {
    return (await this.one('id', id))?.password_hash ?? null;
  }

  async savePasswordHash(id: string, passwordHash: string) {
    const statement = 'UPDATE customers SET password_hash = $2 WHERE id::text = $1';
    return (await pool.query(statement, [id, passwordHash])).rowCount === 1;
  }

  override async create({ identifier, passwordHash }: NewAccount) {
    const statement = 'INSERT INTO customers (email, password_hash) VALUES ($1, $2) RETURNING id::text, email';
    return (await pool.query<Customer>(statement, [identifier, passwordHash])).rows[0]!;
  }

  override async delete(id: string, manager: Parameters<NonNullable<UserProvider['delete']>>[1]) {
    return (await manager.query('DELETE FROM customers WHERE id::text = $1', [id]))[1] === 1;
  }

  idOf({ id }: Customer) {
    return id;
  }

  override identifierOf({ email }: Customer) {
    return email;
  }
}

@Controller('me')
@Authenticated()
class Me {
  constructor(private readonly auth: Auth) {}

  @Get()
  read(@CurrentUser() { email }: Customer) {
    return { email };
  }

  @Get('revoke')
  async revoke(@CurrentUser() { id }: Customer) {
    await this.auth.revokeAll(id);
    return {};
  }
}

@Module({
  imports: [
    AuthModule.forRoot({
      pool,
      secret: 'secret-of-a-host-that-installed-the-package',
      features: { registration: true },
      users: { provider: Customers },
    }),
  ],
  controllers: [Me],
})
export class AppModule {}

/** What the start says to an application that needs TypeORM. */
function refusalOf(declare: () => unknown): string {
  try {
    declare();
    return 'declared';
  } catch (error) {
    return (error as Error).message;
  }
}

async function serve(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  await app.listen(0);
  const users = { provider: Customers };
  const withoutPool = refusalOf(() => AuthModule.forRoot({ users }));
  const { port } = app.getHttpServer().address() as { port: number };
  class Person {}
  const onEntity = AuthModule.forRoot({
    pool,
    secret: 'another-secret-of-this-host-0123456789',
    users: { entity: Person },
  });
  const withEntity = await NestFactory.createApplicationContext(onEntity, { logger: false, abortOnError: false }).then(
    () => 'started',
    (error: Error) => error.message,
  );
  const loaded = Object.keys(require.cache).filter((file) => /node_modules\/(@nestjs\/)?typeorm\//.test(file));
  process.send!({ url: `http://localhost:${port}`, withoutPool, withEntity, loaded });
}

const started = process.argv[2] === undefined ? serve() : undefined;
if (require.main === module && !started)
  void AuthConsoleModule.run(() =>
    NestFactory.createApplicationContext(AppModule, { logger: ['fatal'], abortOnError: false }),
  );
