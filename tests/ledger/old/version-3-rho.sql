CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	dataset TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	neighbors TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	total_rho TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	spent_rho TEXT, 
	entries INTEGER NOT NULL, 
	sources TEXT NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,3,'town-2026','{"kind": "person", "column": "voter"}','added or removed','zero-concentrated',NULL,NULL,NULL,'1/2',NULL,NULL,NULL,'5553317576835438688082910502614636683887/21778071482940061661655974875633165533184',3,'["votes, final count", "votes, first count"]','543679ad534eabc0d61c8db6c173cb3f4f60aa0310df86fe2289086ed3c1b166');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	source TEXT, 
	question TEXT NOT NULL, 
	mechanism TEXT, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	rho TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:39+00:00','poll 0','votes, final count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "zero-concentrated", "rho": "1/8"}',NULL,NULL,NULL,'1/8','"red"','dbacaceb28819db96ef83e3b5c715bdc68576cf998cf7cc697bdd7f3673883fa');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:39+00:00',NULL,'votes, first count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "gaussian", "mu": "1/2"}',NULL,NULL,NULL,'1/8','"gr\u00fcn"','af15b7b5947e83249cd003d9dbfa3d082515c3d90542ed90c50261eb4a3337e9');
INSERT INTO "rainbow_entries" VALUES(3,'2026-11-17T12:35:39+00:00','poll 2','votes, final count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "dp", "epsilon": "1/10", "delta": "0"}',NULL,NULL,NULL,'108799706100423272668916783706345300591/21778071482940061661655974875633165533184','"red"','d1eecbca113ea3a329f7d611d439a870f05c895a4f290b882fae2a560c18419e');
