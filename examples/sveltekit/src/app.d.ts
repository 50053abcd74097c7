declare global {
  namespace App {
    interface Locals {
      /** Of the user for whom the page is rendered. It must not be in the data of a page: scripts could read it. */
      accessToken?: string;
    }
  }
}

export {};
