#!/usr/bin/env node
declare const REINS_VERSION: string;
console.log(`reins ${REINS_VERSION}`);
