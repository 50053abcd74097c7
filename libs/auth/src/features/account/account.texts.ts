export {};

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    accountDeleted: ChangeTemplate;
  }
}
