import { Module } from '@nestjs/common';
import { createClient } from '@redis/client';
import { AuthModule } from '@svc/auth';
import { ReportsController } from './reports.controller.js';
import { Subjects } from './subjects.js';

/** A service without tables, private key and users of its own. */
@Module({
  imports: [
    AuthModule.forRootAsync({
      routes: false,
      users: { provider: Subjects },
      useFactory: async () => ({
        algorithm: 'ES256',
        keys: { jwks: `${process.env.ISSUER_URL ?? 'http://localhost:3000'}/auth/jwks` },
        issuer: 'https://api.example.com',
        audience: 'https://reports.example.com',
        // The Redis of the issuer: a session that ends there is refused here with the next request.
        cache: await createClient({ url: process.env.REDIS_URL }).connect(),
      }),
    }),
  ],
  controllers: [ReportsController],
})
export class ReportsModule {}
