import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createSecretKey } from 'node:crypto';
import { SpentController } from './counting';
import { StoredToken, User } from './hand-rolled.entities';
import { handRolled } from './hand-rolled.variant';
import { SECRET, serve } from './serve';

const variants = [handRolled('string', SECRET), handRolled('key-object', createSecretKey(Buffer.from(SECRET)))];

@Module({})
class HandRolledApp {
  static with(databaseUrl: string): DynamicModule {
    return {
      module: HandRolledApp,
      imports: [
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: databaseUrl,
          entities: [User, StoredToken],
          installExtensions: false,
        }),
        TypeOrmModule.forFeature([User, StoredToken]),
      ],
      controllers: [...variants.flatMap(({ controllers }) => controllers), SpentController],
      providers: variants.flatMap(({ providers }) => providers),
    };
  }
}

void serve(HandRolledApp.with(process.env.DATABASE_URL!));
