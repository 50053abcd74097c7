import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AdoptAuth1795000000000 implements MigrationInterface {
  name = 'AdoptAuth1795000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "user" ADD "emailVerifiedAt" TIMESTAMP WITH TIME ZONE`);
    // The address of an active user was confirmed by the letter, or entered by an administrator: the row does not show which.
    await queryRunner.query(`UPDATE "user" SET "emailVerifiedAt" = now() WHERE "statusId" = 1`);
    await queryRunner.query(`ALTER TABLE "user" ALTER "createdAt" TYPE TIMESTAMP WITH TIME ZONE`);
    // A user of a provider could set a password by a reset, but not sign in with it.
    await queryRunner.query(`UPDATE "user" SET "password" = NULL WHERE "provider" <> 'email'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "user" ALTER "createdAt" TYPE TIMESTAMP`);
    await queryRunner.query(`ALTER TABLE "user" DROP "emailVerifiedAt"`);
  }
}
