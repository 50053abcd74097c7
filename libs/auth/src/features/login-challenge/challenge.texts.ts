import '../../foundation/ports/mail';

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    /** After a second factor with `trust_device`: see `twoFactor.trustedDeviceDays`. */
    deviceTrusted: ChangeTemplate;
  }
}
