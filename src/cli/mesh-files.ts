/** The mesh room's file readers, under one roof for the command line. */
export * from '../mesh/files/index.js';
