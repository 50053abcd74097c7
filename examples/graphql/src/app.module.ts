import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, authEntities, authMigrations } from '@svc/auth';
import { AccountResolver } from './account.resolver.js';
import { NotesResolver } from './notes.resolver.js';
import { CreateUsers1795000000000, User } from './users.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [...authEntities, User],
      migrations: [...authMigrations, CreateUsers1795000000000],
      migrationsRun: true,
    }),
    GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloDriver,
      autoSchemaFile: true,
      subscriptions: { 'graphql-ws': true },
      // The server calls write to the response: in cookie mode they set the cookie.
      context: ({ req, res }: { req: object; res: object }) => ({ req, res }),
    }),
    AuthModule.forRoot({
      users: { entity: User },
      features: { registration: true },
      secret: process.env.SVC_SECRET,
      // What a login may do. An application reads it from its own tables.
      hooks: { abilities: () => ['notes.read', 'notes.write'] },
      redis: { url: process.env.REDIS_URL },
    }),
  ],
  providers: [AccountResolver, NotesResolver],
})
export class AppModule {}
