export * from '../../libs/auth/src/testing/soft-authenticator';
